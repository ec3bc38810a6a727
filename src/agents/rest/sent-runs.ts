import type { Logger } from '@nestjs/common';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import type { CurrentExchange } from '../../sessions/rest/http-exchange.js';
import { type SentEvents, sendEvents } from '../../sessions/rest/sent-events.js';
import type { AccessChecks } from '../../sessions/transport/access-checks.js';
import type { AgentRun } from '../ask/agent-run.js';
import type { RunEvent } from '../turn/run-events.js';
import { RunReading } from '../ask/run-reading.js';

/** How the events of runs are sent. */
export interface SentRuns extends Pick<SentEvents<RunEvent>, 'textOf' | 'textOfEnd' | 'textOfProblem'> {
  readonly key: SessionKey;
  readonly withPartials: boolean;
}

/** Sends runs one after the other as server-sent events. They go on if the reader leaves. */
export async function sendRuns(
  starts: readonly (() => AgentRun)[],
  { key, withPartials, ...texts }: SentRuns,
  exchange: CurrentExchange,
  access: AccessChecks,
  logger: Logger,
): Promise<void> {
  const reading = await RunReading.open(starts, withPartials);
  const { request } = exchange;
  const followed = access.followStream({ action: 'read', target: 'session', ...key, request });
  await sendEvents(exchange, followed, logger, {
    open: (_, signal) => {
      const leave = (): void => void reading.return();
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
      return reading;
    },
    hasEnd: true,
    ...texts,
  });
}
