import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { StoreUnavailableError } from '../../src/index.js';
import { openingFailure } from '../../src/sessions/storage/typeorm/connect/opening-failure.js';

const ADDRESS = { url: 'postgres://app:secret@127.0.0.1:5432/agents', timeLimitMs: 5_000 };

describe('a store whose connection breaks while its tables are made', () => {
  it('is unavailable for now, also where TypeORM only says that it has given the connection back', () => {
    const error = openingFailure(new QueryRunnerAlreadyReleasedError(), ADDRESS);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({
      outcomeUnknown: false,
      message: expect.stringContaining('(connection lost)') as string,
    });
  });
});
