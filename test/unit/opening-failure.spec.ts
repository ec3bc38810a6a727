import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { StoreUnavailableError } from '../../src/index.js';
import { openingFailure } from '../../src/sessions/storage/typeorm/connect/opening-failure.js';

const ADDRESS = { url: 'postgres://app:secret@127.0.0.1:5432/agents', timeLimitMs: 5_000 };

describe('openingFailure', () => {
  it('reports a lost connection as unavailable, also if TypeORM only throws QueryRunnerAlreadyReleasedError', () => {
    const error = openingFailure(new QueryRunnerAlreadyReleasedError(), ADDRESS);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({
      outcomeUnknown: false,
      message: expect.stringContaining('(connection lost)') as string,
    });
  });
});
