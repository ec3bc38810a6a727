import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { groupBy, inBatches } from '../../../domain/stored/batches.js';
import { StoreUnavailableError } from '../../../domain/errors/errors.js';
import { NEVER, isExpired } from '../../../domain/values/expiry.js';
import { beginsToWait } from '../../../domain/stored/session-record.js';
import { UNCOUNTED } from '../../../domain/stored/state-size.js';
import type {
  Held,
  HoldOptions,
  HoldRequest,
  PlannedWrite,
  SessionHead,
  WriteAnswer,
  WriteStore,
} from '../../planned-write.js';
import { HeldScopeSizes } from '../../held-scope-sizes.js';
import type { PlanTime } from '../../plan-time.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import { type FlatHash, parseSessionHead } from '../script/codec.js';
import type { NumberReply, ScriptRunner } from '../script/script.js';
import { countedState } from '../state/shared-state.js';
import { type EncodedWrite, encodeWrite } from './encode-write.js';
import { findSession, leaveSession } from './hold-session.js';
import type { ServerClock } from './server-clock.js';
import { WRITE_SESSIONS } from './write-sessions.lua.js';

/** A script blocks the server while it runs. A larger write has its own. */
const MAX_PER_SCRIPT = { items: 32, events: 64, characters: 262_144 };
/** How often a session is read and written before others have to wait. */
const FREE_ATTEMPTS = 1;
/** How long to wait at most before a session that is held is read again. */
const MOST_PAUSE_MS = 100;
/** How long to wait at least for a session that another process holds. */
const WAIT_MS = 1;

/** Nothing for one that another answer says: see WRITE_SESSIONS. */
type WriteReply = NumberReply | ChangedReply | readonly [written: NumberReply, pending: FlatHash];

/** The session as it is. */
type ChangedReply = readonly [record: string | null, state: string | null, isChanged: NumberReply];

interface RedisWritesOptions {
  readonly keys: RedisKeys;
  readonly clock: ServerClock;
  /** Starts a call, whose scripts share one time limit. */
  readonly startCall: (calledAt: number) => { readonly scripts: ScriptRunner; readonly app: AppScope };
}

/** What the scripts of one call use. */
interface WriteCall {
  readonly scripts: ScriptRunner;
  readonly app: AppScope;
  readonly keys: RedisKeys;
}

/** When a script may write, and for whom. */
interface WriteTerms {
  readonly range: readonly [from: number | string, to: number | string];
  readonly lease: string;
}

/** Writes what is planned. One script has the writes of one slot; on a single node, that is all of them. */
export class RedisWrites implements WriteStore {
  /** Scripts need no lanes: the server runs one after the other. */
  readonly limits = { maxBatches: Infinity, maxWaiting: Infinity, isOn: true, holdsOneByOne: true };
  readonly #clock: ServerClock;

  constructor(private readonly options: RedisWritesOptions) {
    this.#clock = options.clock;
  }

  async write(
    plan: (moment: PlanTime) => readonly PlannedWrite[],
    calledAt: number,
  ): Promise<readonly WriteAnswer[] | undefined> {
    const moment = this.#clock.moment();
    if (!moment) return undefined;
    const call = this.#startCall(calledAt);
    const writes = plan(moment);
    const terms = { range: this.#clock.rangeFrom(moment.now), lease: '' };
    const answers = new Map<PlannedWrite, WriteAnswer>();
    await Promise.all(
      this.#batchesOf(writes, call).map(async (batch) => {
        const fitting = call.app.isCluster ? await fittingApp(call, batch) : batch;
        if (fitting.length === 0) return;
        const replies = this.#send(call, fitting, terms);
        await Promise.all(
          fitting.map(async ({ write }, index) => {
            const answer = replies.then((ofBatch) => this.#complete(call, write, ofBatch[index]));
            answers.set(write, await answer.catch(answerOfError));
          }),
        );
      }),
    );
    return writes.map((write) => answers.get(write) ?? UNWRITTEN);
  }

  /** Holds one session, and leaves the others out: each has a record of its own to compare. */
  async hold(
    [request, ...others]: readonly HoldRequest[],
    decide: (held: Held) => Promise<readonly PlannedWrite[]>,
    { calledAt }: HoldOptions,
  ): Promise<void> {
    if (!request) return;
    const call = this.#startCall(calledAt);
    const token = randomUUID();
    for (let attempt = 1; ; attempt++) {
      const lease = attempt > FREE_ATTEMPTS ? token : '';
      const found = await findSession(call, request, lease);
      this.#clock.note(found.serverTime);
      if (found.heldForMs > 0) {
        await delay(Math.min(found.heldForMs, WAIT_MS + 3 * Math.random()));
        continue;
      }
      const { key } = request;
      const { scripts, keys } = call;
      const scopes = new HeldScopeSizes(found.bounds, (owner) => countedState(scripts, keys.stateOf(owner), true));
      const session = {
        head: found.head,
        events: found.events,
        countState: () => countedState(scripts, keys.ownStateOf(key), false),
      };
      const [write] = await decide({ now: found.now, sessions: [session, ...others.map(() => undefined)], scopes });
      if (!write) {
        if (lease !== '') void leaveSession(scripts, keys.recordOf(key), lease).catch(() => undefined);
        return;
      }
      const encoded = encodeWrite(write, { ...call, countedSize: (scope) => scopes.countedSize(scope) });
      const range = this.#clock.rangeFrom(found.now, certainUntil(write.before, found.now));
      const [reply] = await this.#send(call, [encoded], { range, lease });
      const { kind } = await this.#complete(call, write, reply);
      if (kind === 'written') return;
      // Whoever holds a session and is still refused came too late: this process has more to do than it can, or the server has.
      if (lease !== '') await delay(Math.min(MOST_PAUSE_MS, 2 ** attempt) * Math.random());
    }
  }

  #startCall(calledAt: number): WriteCall {
    return { ...this.options.startCall(calledAt), keys: this.options.keys };
  }

  /** In their order, in as few scripts as allowed. */
  #batchesOf(writes: readonly PlannedWrite[], call: WriteCall): (readonly EncodedWrite[])[] {
    const encoded = writes.map((write) => encodeWrite(write, call));
    if (encoded.length === 1) return [encoded];
    const slots = groupBy(encoded, ({ write }) => call.app.slotTag(write.key));
    const limits = { items: MAX_PER_SCRIPT.items, weight: 1, weightOf: measureScriptShare };
    return [...slots.values()].flatMap((ofSlot) => inBatches(ofSlot, limits));
  }

  async #send(
    { scripts, app }: WriteCall,
    batch: readonly EncodedWrite[],
    { range, lease }: WriteTerms,
  ): Promise<readonly WriteReply[]> {
    const [serverTime, ...replies] = await scripts.write<readonly [serverTime: string, ...WriteReply[]]>(
      WRITE_SESSIONS,
      {
        keys: batch.map(({ recordKey }) => recordKey),
        args: [...range, lease, ...(batch.length === 1 ? (batch[0]?.args ?? []) : batch.flatMap(({ args }) => args))],
        usedKeys: () => batch.flatMap(({ write }) => app.sessionKeys(write.key)),
        wroteNothing: ([, ...all]) => all.every(isUnwritten),
      },
    );
    this.#clock.note(serverTime);
    return replies;
  }

  /** What a reply says. On a cluster, what is pending for the app follows. */
  async #complete({ app }: WriteCall, write: PlannedWrite, reply: WriteReply | undefined): Promise<WriteAnswer> {
    if (typeof reply !== 'object') return isUnwritten(reply) ? UNWRITTEN : WRITTEN;
    const { key, before, after, scopes } = write;
    if (isChanged(reply)) {
      const [record, state] = reply;
      // Perhaps it is the time that does not fit.
      this.#clock.renew();
      return { kind: 'changed', head: record === null ? undefined : parseSessionHead(key, record, state) };
    }
    const [, pending] = reply;
    const { incarnation } = after.record;
    const ofApp = scopes.find(({ owner }) => owner.userId === undefined);
    await afterWrite(async () => {
      await app.applyPending({ key, incarnation, pending, readAt: this.#clock.last });
      if (ofApp) await app.renewIfDue(key.appName, ofApp.lifetime, this.#clock.moment()?.now ?? 0);
    });
    if (beginsToWait(before.record, after.record)) app.announceChange(key);
    return WRITTEN;
  }
}

function isChanged(reply: Exclude<WriteReply, NumberReply>): reply is ChangedReply {
  return reply.length === 3;
}

function isUnwritten(reply: WriteReply | undefined): boolean {
  return typeof reply === 'object' ? isChanged(reply) : Number(reply) !== 1;
}

const WRITTEN: WriteAnswer = { kind: 'written' };
const UNWRITTEN: WriteAnswer = { kind: 'unwritten' };

function answerOfError(error: unknown): WriteAnswer {
  const isKnown = error instanceof StoreUnavailableError && !error.outcomeUnknown;
  return isKnown ? UNWRITTEN : { kind: 'unknown' };
}

/** How much of a script a write takes; 1 is all of it. */
function measureScriptShare({ write: { events, partials } }: EncodedWrite): number {
  const texts = [...events.map(({ payload }) => payload), ...partials.map(({ content }) => content)];
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return Math.max(texts.length / MAX_PER_SCRIPT.events, characters / MAX_PER_SCRIPT.characters);
}

/** Those for which the app certainly has room, where the script of a session cannot see its state. */
async function fittingApp(
  { scripts, keys }: WriteCall,
  batch: readonly EncodedWrite[],
): Promise<readonly EncodedWrite[]> {
  const fits = await Promise.all(
    batch.map(async ({ write: { scopes } }) => {
      const scope = scopes.find(({ owner }) => owner.userId === undefined);
      if (!scope || scope.growth === 0 || scope.most >= UNCOUNTED - 1) return true;
      const size = await countedState(scripts, keys.stateOf(scope.owner), true).catch(() => undefined);
      return size !== undefined && size.atMost + scope.growth <= scope.most;
    }),
  );
  return batch.filter((_, index) => fits[index]);
}

/** Until when the session and its turn stay as they are now, if nobody writes. */
function certainUntil({ record: { expiresAt, turn } }: SessionHead, now: number): number {
  const ends = [expiresAt, turn.expiresAt].filter((end) => end < NEVER && !isExpired(end, now));
  return Math.min(...ends) - 1;
}
