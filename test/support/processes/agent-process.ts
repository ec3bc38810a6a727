import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentSessions } from '../../../src/agents/agent-sessions.js';
import type { AnswerRequest, RunHandler, RunRequest } from '../../../src/agents/index.js';
import { SessionsError } from '../../../src/sessions/domain/errors/errors.js';
import type { EventInput } from '../../../src/sessions/domain/event/event.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import { until } from '../until.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';

/** Where in a run its process is killed or stopped. */
export const RUN_PHASES = [
  'before the message',
  'after the message',
  'between call and response',
  'in mid-stream',
  'before the final event',
  'before the end of the turn',
] as const;

export type RunPhase = (typeof RUN_PHASES)[number];

/** Runs of one process. */
export interface RunsTask {
  /** Runs with a phase wait there for all others. */
  readonly runs: readonly { readonly request: RunRequest; readonly phase?: RunPhase | undefined }[];
  /** What happens to the process when all are in their phase. Default: nothing. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP' | undefined;
}

/** Longer than a commit takes. */
const COMMIT_MS = 200;

/** How a run ended. */
export interface RunOutcome {
  readonly status?: string;
  readonly code?: string;
}

export const WEATHER: readonly EventInput[] = [
  { content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'weather', args: {} } }] } },
  {
    content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'weather', response: { sky: 'blue' } } }] },
  },
  { content: { role: 'model', parts: [{ text: 'It is' }] }, partial: true },
  { content: { role: 'model', parts: [{ text: 'It is sunny' }] } },
];

/** Asks before it refunds, and counts its refunds. */
export const refunding: RunHandler = async function* (context) {
  if (!context.isResumed) yield { content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'refund' } }] } };
  yield await context.callTools({
    refund: async (_args, tool) => {
      const { confirmed } = await tool.requestApproval({ hint: 'Refund?' });
      tool.state['user:refunds'] = tool.state.get('user:refunds', 0) + 1;
      return { confirmed };
    },
  });
  yield { content: { role: 'model', parts: [{ text: 'Refunded' }] } };
};

/** Answers what the user is asked, several times at once. */
export async function answerApproval(
  storage: SessionStorage,
  { request, times }: { readonly request: AnswerRequest; readonly times: number },
): Promise<RunOutcome[]> {
  const sessions = new SessionService({ storage });
  const agents = new AgentSessions({ sessions, pollMs: 50 });
  try {
    const runs = Array.from({ length: times }, () => agents.answerApproval(request, refunding).result);
    return (await Promise.all(runs)).map(({ status }) => ({ status }));
  } finally {
    await agents.close();
    await sessions.finish();
  }
}

/** Runs an agent with a tool in several sessions at once, and meets the signal when all are in their phase. */
export async function runAgents(
  storage: SessionStorage,
  { runs, signal }: RunsTask,
  report: (progress: number) => Promise<void>,
): Promise<RunOutcome[]> {
  let left = runs.filter(({ phase }) => phase).length;
  const all = new AbortController();
  const met = once(all.signal, 'abort');
  const meet = async (): Promise<void> => {
    left -= 1;
    if (left === 0) {
      // A process that is stopped in a transaction keeps its locks.
      if (signal === 'SIGSTOP') await delay(COMMIT_MS);
      await report(1);
      if (signal) process.kill(process.pid, signal);
      all.abort();
      // Nothing may run until the signal arrives.
      if (signal === 'SIGKILL') for (;;);
    }
    await met;
  };
  return Promise.all(
    runs.map(async ({ request, phase }) =>
      runAgent(storage, request, async (reached) => {
        if (reached === phase) await meet();
      }),
    ),
  );
}

async function runAgent(
  storage: SessionStorage,
  request: RunRequest,
  meet: (reached: RunPhase) => Promise<void>,
): Promise<RunOutcome> {
  const pieces = { saved: 0 };
  const watched = meeting(storage, meet, pieces);
  const sessions = new SessionService({ storage: watched });
  const agents = new AgentSessions({ sessions, pollMs: 50, graceMs: 300, partials: { flushMs: 5 } });
  const handler: RunHandler = async function* () {
    const [call = {}, response = {}, partial = {}, final = {}] = WEATHER;
    await meet('after the message');
    yield call;
    await meet('between call and response');
    yield response;
    yield partial;
    await until(() => pieces.saved >= 1);
    await meet('in mid-stream');
    yield { ...partial };
    await until(() => pieces.saved >= 2);
    await meet('before the final event');
    yield final;
  };
  try {
    const { status } = await agents.run(request, handler).result;
    return { status };
  } catch (error) {
    if (error instanceof SessionsError) return { code: error.code };
    throw error;
  } finally {
    await agents.close();
    await sessions.finish();
  }
}

/** The storage, with the phases that no handler sees. */
function meeting(
  storage: SessionStorage,
  meet: (phase: RunPhase) => Promise<void>,
  pieces: { saved: number },
): SessionStorage {
  const savePartial: SessionStorage['savePartial'] = async (write) => {
    const outcome = await storage.savePartial(write);
    // Also those that the store has refused.
    pieces.saved += 1;
    return outcome;
  };
  const append: SessionStorage['append'] = async (commit) => {
    if (commit.events.some(({ id }) => id.startsWith('message:'))) await meet('before the message');
    return storage.append(commit);
  };
  const turn: SessionStorage['turn'] = async (request) => {
    if (request.action === 'end') await meet('before the end of the turn');
    return storage.turn(request);
  };
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'append') return append;
      if (name === 'turn') return turn;
      if (name === 'savePartial') return savePartial;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
