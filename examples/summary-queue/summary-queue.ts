import { Queue, type QueueOptions, Worker, type WorkerOptions } from 'bullmq';
import { type SessionKey, SessionNotFoundError } from 'nestjs-agent-sessions';
import type { DueTrigger, SummarizerSessionManager } from 'nestjs-agent-sessions/summarizer';

const NAME = 'summaries';

/** What a job needs to know. */
interface DueSession {
  readonly key: SessionKey;
  readonly dueSince: DueTrigger;
}

/** For processes that answer requests: puts a job for each session, or branch of one, that begins to need a summary. */
export function queueDueSummaries(summaries: SummarizerSessionManager, options: QueueOptions): Queue<DueSession> {
  const retries = { attempts: 5, backoff: { type: 'exponential', delay: 30_000 } };
  const queue = new Queue<DueSession>(NAME, {
    ...options,
    defaultJobOptions: { ...retries, removeOnComplete: true, removeOnFail: true },
  });
  summaries.hooks.onDue(async (key, dueSince) => {
    const { branch = '' } = dueSince;
    const id = [key.appName, key.userId, key.sessionId, branch].map(encodeURIComponent).join('/');
    // One job for each session, and for each of its branches. What becomes due while it runs waits as one more.
    await queue.add('summary', { key, dueSince }, { deduplication: { id, keepLastIfActive: true } });
  });
  return queue;
}

/** For processes that write summaries. The job of one that is killed goes to another one. */
export function summaryWorker(summaries: SummarizerSessionManager, options: WorkerOptions): Worker<DueSession> {
  const write = async ({ key, dueSince }: DueSession, signal?: AbortSignal): Promise<void> => {
    const { appName, userId, sessionId: id } = key;
    try {
      await summaries.createSessionSummary({ session: { appName, userId, id }, dueSince, signal });
    } catch (error) {
      // There is nothing left to summarise.
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  };
  return new Worker<DueSession>(NAME, ({ data }, _token, signal) => write(data, signal), options);
}
