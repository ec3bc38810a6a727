import { describeContract, topic } from '../../src/testing/contract-runner.js';
import { ManualClock, describeSessionService, describeSessionStorage } from '../../src/testing/index.js';

interface Reported {
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** Runs `define` with a fake `describe` and `it` that only record the tests. */
function collectTests(define: () => void): { run: Reported[]; skipped: string[] } {
  const { describe: realDescribe, it: realIt } = globalThis;
  const run: Reported[] = [];
  const skipped: string[] = [];
  const names: string[] = [];
  const fakeIt = Object.assign(
    (title: string, body: () => Promise<void>) => run.push({ title: [...names, title].join(' > '), run: body }),
    { skip: (title: string) => skipped.push([...names, title].join(' > ')) },
  );
  const fakeDescribe = (name: string, body: () => void): void => {
    names.push(name);
    body();
    names.pop();
  };
  try {
    Object.assign(globalThis, { describe: fakeDescribe, it: fakeIt });
    define();
  } finally {
    Object.assign(globalThis, { describe: realDescribe, it: realIt });
  }
  return { run, skipped };
}

const create = async (): Promise<never> => {
  throw new Error('A refused suite opens no store');
};

describe('describeContract', () => {
  it('opens a fixture for each test and closes it, also after a failure', async () => {
    const seen: string[] = [];
    const topics = [
      topic<number>('numbers', (test) => {
        test('sees', async (fixture) => void seen.push(`sees ${fixture}`));
        test('fails', async (fixture) => {
          throw new Error(`fails with ${fixture}`);
        });
      }),
    ];
    let count = 0;
    const open = async () => {
      const fixture = ++count;
      return { fixture, close: async () => void seen.push(`closed ${fixture}`) };
    };
    const { run } = collectTests(() => describeContract({ name: 'it', topics, open }));
    expect(run.map(({ title }) => title)).toEqual(['it > numbers > sees', 'it > numbers > fails']);
    await run[0]?.run();
    await expect(run[1]?.run()).rejects.toThrow('fails with 2');
    expect(seen).toEqual(['sees 1', 'closed 1', 'closed 2']);
  });

  it('reports skipped tests by name, with the reason', () => {
    const known = 'events are numbered 1, 2, 3 without gaps';
    const skip = [{ reason: 'counts in twos', tests: [known] }];
    const all = collectTests(() => describeSessionStorage({ name: 'x', create }));
    const { run, skipped } = collectTests(() => describeSessionStorage({ name: 'x', create, skip }));
    expect(skipped).toEqual([
      `x keeps the contract of a session storage > append > ${known} (skipped: counts in twos)`,
    ]);
    expect(run).toHaveLength(all.run.length - 1);
    expect(all.skipped).toEqual([]);
  });

  it('refuses to skip a test that does not exist', () => {
    const skip = [{ reason: 'cannot', tests: ['no such test'] }];
    expect(() => describeSessionStorage({ name: 'x', create, skip })).toThrow('"no such test"');
    expect(() => describeSessionService({ name: 'x', create, skip })).toThrow('"no such test"');
  });

  it('refuses a skip without a reason', () => {
    const skip = [{ reason: ' ', tests: ['a delete removes the events and the own state of the session'] }];
    expect(() => describeSessionStorage({ name: 'x', create, skip })).toThrow('needs a reason');
  });

  it('refuses two tests with the same name', () => {
    const topics = [topic('one', (test) => test('a test', async () => undefined))];
    expect(() => describeContract({ name: 'x', topics: [...topics, ...topics], open: create })).toThrow('Two tests');
  });
});

describe('ManualClock', () => {
  it('changes only when it is moved, forward or back', () => {
    const clock = new ManualClock(1000);
    expect([clock.now(), clock.now()]).toEqual([1000, 1000]);
    clock.advance(5);
    clock.advanceSeconds(2);
    expect(clock.now()).toBe(3005);
    clock.advance(-3005);
    expect(clock.now()).toBe(0);
  });
});
