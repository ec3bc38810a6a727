import { ConfigurationError, StoreUnavailableError } from '../../src/index.js';
import { storeUnavailable } from '../../src/sessions/storage/typeorm/connect/driver-errors.js';
import { openingFailure } from '../../src/sessions/storage/typeorm/connect/opening-failure.js';

const ADDRESS = { url: 'postgres://app:secret@pooler:6432/agents', timeLimitMs: 5_000 };

const refusal = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** The messages are those of PgBouncer, and of PostgreSQL behind it. */
describe('a pooler in front of PostgreSQL', () => {
  it('is named when the store is opened, if it refuses startup parameters', () => {
    const error = openingFailure(refusal('08P01', 'unsupported startup parameter: statement_timeout'), ADDRESS);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      problems: ['A pooler at pooler:6432 refuses settings of connections: set pooler to transaction.'],
    });
  });

  it.each([
    ['42P05', 'prepared statement "a" already exists'],
    ['26000', 'prepared statement "a" does not exist'],
  ])('is named in the error if it shares connections and a statement fails with %s', (code, message) => {
    const error = storeUnavailable(refusal(code, message), false);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({
      message: expect.stringContaining(
        `(${code}: a pooler shares connections, so set pooler to transaction).`,
      ) as string,
    });
  });
});
