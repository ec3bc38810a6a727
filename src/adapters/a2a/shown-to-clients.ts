import { A2AError } from '@a2a-js/sdk/errors';
import { Logger } from '@nestjs/common';
import { withShownErrors } from '../../adapter.js';

const logger = new Logger('SessionTaskStore');

/** The SDK tells clients the message of any error, and stores it in tasks. */
export async function shownToClients<Result>(work: () => Promise<Result>): Promise<Result> {
  return withShownErrors(logger, work, (error) => error instanceof A2AError);
}
