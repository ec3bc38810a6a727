type Body = () => unknown;

/** The published suite. */
interface PublishedSuite {
  runConformanceTests(options: { readonly baseUrl: string }): void;
}

/**
 * Loads the published suite, which is written for Vitest: its functions are those of Jest here. Tests that it marks as concurrent wait for the
 * clock, so they begin together.
 */
export function loadSuite(): PublishedSuite {
  const together: (() => void)[] = [];
  const concurrent = (name: string, body: Body, timeout?: number): void => {
    let running: Promise<unknown> | undefined;
    const begin = (): void => {
      running ??= Promise.resolve().then(body);
      running.catch(() => undefined);
    };
    together.push(begin);
    define(
      name,
      () => {
        for (const each of together) each();
        return running;
      },
      timeout,
    );
  };
  const vitest = {
    describe: Object.assign(describe.bind(undefined), {
      runIf: (isRun: unknown) => (isRun ? describe : () => undefined),
    }),
    // Without Vitest's second argument, a message.
    expect: Object.assign((value: unknown) => expect(value), expect),
    test: Object.assign(define, { concurrent }),
    vi: { waitFor },
  };
  let suite: PublishedSuite | undefined;
  jest.isolateModules(() => {
    jest.doMock('vitest', () => vitest);
    suite = require('@durable-streams/server-conformance-tests') as PublishedSuite;
  });
  if (!suite) throw new Error('The suite was not loaded');
  return suite;
}

async function waitFor(check: () => unknown, { timeout = 1_000, interval = 50 } = {}): Promise<void> {
  const deadline = performance.now() + timeout;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
  }
}

function define(name: string, body: Body, timeout?: number): void {
  it(name, async () => void (await body()), timeout);
}
