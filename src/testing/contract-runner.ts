/** A promise of a contract, and the test that proves it. */
export interface ContractTest<Fixture> {
  readonly title: string;
  readonly run: (fixture: Fixture) => Promise<void>;
}

/** The promises about one topic. */
export interface Topic<Fixture> {
  readonly name: string;
  readonly tests: readonly ContractTest<Fixture>[];
}

/** Promises that an implementation does not keep, and why. */
export interface Skip {
  readonly reason: string;
  /** The exact titles of tests. */
  readonly tests: readonly string[];
}

/** The fixture of a test, and how to close it. */
export interface Opened<Fixture> {
  readonly fixture: Fixture;
  close(): Promise<void>;
}

export interface Contract<Fixture> {
  readonly name: string;
  readonly topics: readonly Topic<Fixture>[];
  readonly skip?: readonly Skip[] | undefined;
  /** Called for every test, so that tests share no data. */
  open(): Promise<Opened<Fixture>>;
}

export function topic<Fixture>(
  name: string,
  define: (test: (title: string, run: ContractTest<Fixture>['run']) => void) => void,
): Topic<Fixture> {
  const tests: ContractTest<Fixture>[] = [];
  define((title, run) => tests.push({ title, run }));
  return { name, tests };
}

/** Reports every test of the contract to the runner, those to be skipped with their reason. */
export function describeContract<Fixture>({ name, topics, skip, open }: Contract<Fixture>): void {
  const reasons = skipReasons(topics, skip ?? []);
  describe(name, () => {
    for (const { name: topicName, tests } of topics) {
      describe(topicName, () => {
        for (const { title, run } of tests) {
          const reason = reasons.get(title);
          if (reason === undefined) it(title, async () => runWith(await open(), run));
          else it.skip(`${title} (skipped: ${reason})`, () => undefined);
        }
      });
    }
  });
}

async function runWith<Fixture>({ fixture, close }: Opened<Fixture>, run: ContractTest<Fixture>['run']): Promise<void> {
  try {
    await run(fixture);
  } finally {
    await close();
  }
}

/** A skip of an unknown test would hide that the test was renamed, so it is an error. */
function skipReasons(topics: readonly Topic<never>[], skip: readonly Skip[]): Map<string, string> {
  const titles = new Set<string>();
  for (const { title } of topics.flatMap(({ tests }) => tests)) {
    if (titles.has(title)) throw new Error(`Two tests of the contract are named ${JSON.stringify(title)}`);
    titles.add(title);
  }
  const reasons = new Map(skip.flatMap(({ reason, tests }) => tests.map((title) => [title, reason] as const)));
  for (const [title, reason] of reasons) {
    if (!titles.has(title)) throw new Error(`No test of the contract is named ${JSON.stringify(title)}`);
    if (reason.trim() === '') throw new Error(`Skipping ${JSON.stringify(title)} needs a reason`);
  }
  return reasons;
}
