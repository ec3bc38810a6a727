import type { MEASURES } from '../../src/summarizer/summary-outlook.js';
import { type SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

type Step = (open: SummarizedSessions) => Promise<void>;

interface Sample {
  readonly limit: number;
  /** Brings a new session to the limit exactly. */
  readonly reach: Step;
  /** Goes above it. The turn is over then. */
  readonly exceed: Step;
}

const spent = (totalTokenCount: number) => ({ ...agent('a'), usageMetadata: { totalTokenCount } });

/** Time alone triggers nothing: a sweep does. */
async function pass(open: SummarizedSessions, ms: number): Promise<void> {
  open.clock.advance(ms);
  await open.summaries.sweep();
}

/** How a session meets each threshold. */
export const SAMPLES: Readonly<Record<(typeof MEASURES)[number], Sample>> = {
  turns: {
    limit: 3,
    reach: (open) => open.append(...turns(1, 3)),
    exceed: (open) => open.append(...turns(4, 4)),
  },
  events: {
    limit: 6,
    reach: (open) => open.append(...turns(1, 3)),
    exceed: (open) => open.append(agent('one more')),
  },
  contentLength: {
    limit: 12,
    reach: (open) => open.append(...turns(1, 3)),
    exceed: (open) => open.append(agent('x')),
  },
  tokens: {
    limit: 30,
    reach: (open) => open.append(user('q'), spent(10), spent(20)),
    exceed: (open) => open.append(spent(1)),
  },
  idleSeconds: {
    limit: 600,
    async reach(open) {
      await open.append(...turns(1, 2));
      await pass(open, 600_000);
    },
    exceed: (open) => pass(open, 1),
  },
  importantLength: {
    limit: 5,
    reach: (open) => open.append(user('12345'), agent(' 12345 ')),
    exceed: (open) => open.append(agent('123456')),
  },
};
