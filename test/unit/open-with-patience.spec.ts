import { ConfigurationError, StoreUnavailableError } from '../../src/index.js';
import { openWithPatience } from '../../src/sessions/module/open-with-patience.js';

/** Fails so often, then opens. */
function store(failures: number, error: Error): { readonly open: () => Promise<void>; readonly tries: () => number } {
  let tries = 0;
  return {
    tries: () => tries,
    async open() {
      if (++tries <= failures) throw error;
    },
  };
}

const away = new StoreUnavailableError('No server listens at db:5432.', false);

describe('The start', () => {
  let lines: string[];
  const patience = { retryAttempts: 3, retryDelayMs: 1, log: (line: string) => lines.push(line) };

  beforeEach(() => {
    lines = [];
  });

  it('tries a store that is not up yet again, with a line each time', async () => {
    const late = store(2, away);
    await openWithPatience(late.open, patience);
    expect(late.tries()).toBe(3);
    expect(lines).toEqual([
      'The store of the sessions cannot be opened yet; trying again in 0.001 s (1 of 3). No server listens at db:5432.',
      'The store of the sessions cannot be opened yet; trying again in 0.001 s (2 of 3). No server listens at db:5432.',
    ]);
  });

  it('fails with the last error once it has tried often enough', async () => {
    const gone = store(Infinity, away);
    await expect(openWithPatience(gone.open, patience)).rejects.toBe(away);
    expect(gone.tries()).toBe(4);
    await expect(openWithPatience(gone.open, { ...patience, retryAttempts: 0 })).rejects.toBe(away);
    expect(gone.tries()).toBe(5);
  });

  it('fails at once for what waiting does not mend', async () => {
    const wrong = new ConfigurationError(['The password is wrong.']);
    const refusing = store(Infinity, wrong);
    await expect(openWithPatience(refusing.open, patience)).rejects.toBe(wrong);
    expect([refusing.tries(), lines]).toEqual([1, []]);
  });
});
