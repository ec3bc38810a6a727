import fc from 'fast-check';
import { InMemorySessionService, type EventInput, type LoggedEvent } from '../../src/index.js';
import { toMessages } from '../../src/agents/index.js';
import { type BranchEvent, branchView } from '../../src/sessions/domain/view/branch-view.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';

const READERS = ['root', 'root.a', 'root.a.x', 'root.b'] as const;
const branch = fc.constantFrom(undefined, ...READERS);
const reader = fc.constantFrom(...READERS);

/** How far back a summary ends, from the last event there is. */
const back = fc.nat(4);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('says' as const), branch }) },
  fc.record({ kind: fc.constant('ofBranch' as const), of: reader, back, isRedacted: fc.boolean() }),
  fc.record({ kind: fc.constant('ofWhole' as const), back }),
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** A log, in which each step is an event. */
function logOf(steps: readonly Step[]): (BranchEvent & { readonly seq: number })[] {
  return steps.map((each, place) => {
    const seq = place + 1;
    if (each.kind === 'says') return { seq, ...(each.branch && { branch: each.branch }) };
    const covered = { fromSeq: 1, toSeq: Math.max(0, place - each.back) };
    if (each.kind === 'ofWhole') return { seq, actions: { compaction: covered } };
    const redaction = each.isRedacted && { redaction: { at: 0, reason: '', bytes: 0, contentLength: 0 } };
    return { seq, actions: { branchSummary: { ...covered, branch: each.of, text: '' } }, ...redaction };
  });
}

/** The view of the whole: the newest summary first, then what it does not cover. */
function viewOf(log: ReturnType<typeof logOf>): ReturnType<typeof logOf> {
  const whole = log.findLast(({ actions }) => actions?.compaction);
  const toSeq = whole?.actions?.compaction?.toSeq ?? 0;
  const rest = log.filter(({ seq, actions }) => seq > toSeq && !actions?.compaction);
  return whole ? [whole, ...rest] : rest;
}

/** The plain rule: what is said on a branch is for this branch and for those below it. */
function isFor(ofReader: string, said: string | undefined): boolean {
  return said === undefined || `${ofReader}.`.startsWith(`${said}.`);
}

describe('the view of a branch', () => {
  it('says each thing that is for its readers once, in words or in one summary, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), reader, (steps, of) => {
        const log = logOf(steps);
        const said = log.filter((event) => !event.actions);
        const due = said.filter((event) => isFor(of, event.branch)).map(({ seq }) => seq);
        const seen = branchView(viewOf(log), { branch: of });
        const told = seen.flatMap(({ seq, actions }) => {
          const covered = actions?.compaction ?? actions?.branchSummary;
          return covered ? due.filter((each) => each <= covered.toSeq) : [seq];
        });
        expect(told).toEqual(due);
        expect(seen.slice(1).filter(({ actions }) => actions)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('begins with the newest summary of exactly its branch, unless that of the whole covers as much', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), reader, (steps, of) => {
        const view = viewOf(logOf(steps));
        const wholeTo = view[0]?.actions?.compaction?.toSeq ?? -1;
        const own = view.filter(({ actions, redaction }) => actions?.branchSummary?.branch === of && !redaction);
        const fits = own.findLast(({ actions }) => (actions?.branchSummary?.toSeq ?? 0) > wholeTo);
        const [first] = branchView(view, { branch: of });
        expect(first?.actions?.branchSummary).toEqual(fits?.actions?.branchSummary);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is that of the whole without summaries of branches for who reads all', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), reader, (steps, of) => {
        const view = viewOf(logOf(steps));
        const shown = view.filter(({ actions }) => !actions?.branchSummary);
        expect(branchView(view, {})).toEqual(shown);
        expect(branchView(view, { branch: of, branches: 'all' })).toEqual(shown);
      }),
    );
  });

  it('is the same in a fork', async () => {
    const model = {
      name: 'lines',
      summarize: async ({ conversation }: { conversation: readonly { text: string }[] }) => ({
        text: conversation.map(({ text }) => text).join(' '),
      }),
    };
    const action = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('says' as const), branch }) },
      fc.record({ kind: fc.constant('summary' as const), branch }),
      fc.record({ kind: fc.constant('rewind' as const), back: fc.integer({ min: 1, max: 4 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 16 }), async (actions) => {
        const sessions = new InMemorySessionService();
        const options = { model, keepRecentEvents: 1, autoSummarize: false };
        const summaries = new SummarizerSessionManager({ sessions }, options);
        const key = { appName: 'shop', userId: 'ann', sessionId: 'one' };
        let session = await sessions.createSession(key);
        for (const [place, each] of actions.entries()) {
          if (each.kind === 'says') await sessions.appendEvent({ session, event: saying(`t${place}`, each.branch) });
          else if (each.kind === 'summary')
            await summaries.createSessionSummary({ session, branch: each.branch, force: true });
          else {
            const { lastSeq } = await sessions.listEvents({ ...key, limit: 1 });
            if (lastSeq >= each.back) session = await sessions.rewindSession({ ...key, toSeq: lastSeq - each.back });
          }
        }
        const source = await sessions.getSession(key);
        const fork = await sessions.forkSession({ ...key, newSessionId: 'two' });
        for (const of of READERS) {
          expect(readBy(of, fork.events)).toEqual(readBy(of, source?.events ?? []));
        }
        await summaries.close();
        await sessions.close();
      }),
      { numRuns: 60 },
    );
  });
});

function saying(text: string, ofBranch: string | undefined): EventInput {
  const speaker = ofBranch === undefined ? { author: 'user' } : { author: 'agent', branch: ofBranch };
  return { ...speaker, content: { role: ofBranch === undefined ? 'user' : 'model', parts: [{ text }] } };
}

function readBy(of: string, events: readonly LoggedEvent[]): unknown {
  return toMessages(events, { format: 'openai', branch: of });
}
