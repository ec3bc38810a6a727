import type { NoteOutcome, WorkEntry, WorkProgress } from '../../../domain/consumer-work.js';
import { letterOf } from '../../../domain/consumer-work.js';
import { compareBytes } from '../../../domain/ids.js';
import { claimAfter } from '../../../domain/work-claims.js';
import type {
  ChangedSession,
  ClaimRequest,
  ConsumerStore,
  DispatchRequest,
  StoredConsumer,
  StoredLag,
} from '../../coordination.js';
import { LIST_APPS } from '../expire/purge-expired.js';
import type { RedisKeys } from '../redis-keys.js';
import { flag, pairsOf } from '../script/codec.js';
import type { NumberReply, ScriptRunner } from '../script/script.js';
import { ChangedSessions } from './changed-sessions.js';
import {
  CLAIM_WORK,
  CONSUMER_LAG,
  DEAD_LETTERS,
  DISPATCH_WORK,
  LIST_CONSUMERS,
  NOTE_WORK,
  REGISTER_CONSUMER,
  REMOVE_CONSUMER,
  RESOLVE_LETTER,
} from './consumer-scripts.js';

/**
 * Consumers in Redis. All consumers and their work are in one slot, so each step is one script. The marks of sessions are
 * in the slots of the sessions: the dispatcher adds work first, then moves the marks.
 */
export class RedisConsumers implements ConsumerStore {
  readonly #changed: ChangedSessions;

  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly isCluster: boolean,
  ) {
    this.#changed = new ChangedSessions(scripts, keys, isCluster);
  }

  async register(name: string, settings: string): Promise<StoredConsumer> {
    const args = [name, settings];
    const text = await this.scripts.write<string>(REGISTER_CONSUMER, { keys: [this.keys.consumers], args });
    return consumerOf(name, text);
  }

  async list(): Promise<StoredConsumer[]> {
    const found = await this.scripts.read<string[]>(LIST_CONSUMERS, { keys: [this.keys.consumers], args: [] });
    return pairsOf(found).map(([name, text]) => consumerOf(name, text));
  }

  async remove(name: string, limit: number): Promise<boolean> {
    const { due, waiting, work, dead } = this.keys.ofConsumer(name);
    const keys = [due, waiting, work, dead, this.keys.consumers];
    return Number(await this.scripts.write<NumberReply>(REMOVE_CONSUMER, { keys, args: [name, limit] })) === 1;
  }

  async apps(): Promise<string[]> {
    const names = await this.scripts.read<string[]>(LIST_APPS, { keys: [this.keys.apps], args: [] });
    return names.toSorted(compareBytes);
  }

  changed(limit: number): Promise<ChangedSession[]> {
    return this.#changed.find(limit);
  }

  async dispatch({ token, work, taken, settings }: DispatchRequest): Promise<boolean> {
    const consumers = [...new Set(work.map(({ consumer }) => consumer))];
    const isDone = await this.scripts.write<NumberReply>(DISPATCH_WORK, {
      keys: [
        this.keys.consumers,
        this.keys.dispatcherToken,
        ...consumers.flatMap((name) => {
          const { due, waiting, work: entries } = this.keys.ofConsumer(name);
          return [due, waiting, entries];
        }),
      ],
      args: [
        token,
        settings?.name ?? '',
        settings?.expected ?? '',
        settings?.next ?? '',
        flag(this.isCluster),
        ...work.flatMap((entry) => [
          consumers.indexOf(entry.consumer),
          memberOf({ ...entry, letterSeq: 0 }),
          entry.seq,
          entry.upTo,
          entry.since,
        ]),
      ],
    });
    if (Number(isDone) === 0) return false;
    await this.#changed.markDispatched(taken);
    return true;
  }

  async claim({ consumer, claim, limit, forMs }: ClaimRequest): Promise<WorkEntry[]> {
    const { due, work } = this.keys.ofConsumer(consumer);
    const args = [claim, limit, forMs];
    const found = await this.scripts.write<string[]>(CLAIM_WORK, { keys: [due, work], args });
    return pairsOf(found).map(([member, text]) => entryOf(consumer, member, text));
  }

  async note(entry: WorkEntry, progress: WorkProgress): Promise<NoteOutcome> {
    const { due, waiting, work, dead } = this.keys.ofConsumer(entry.consumer);
    const letter = progress.letter && letterOf(entry, progress.letter);
    const [kind, upTo] = await this.scripts.write<[NoteOutcome['kind'], string?]>(NOTE_WORK, {
      keys: [due, waiting, work, dead],
      args: [
        memberOf(entry),
        entry.claim,
        progress.seq,
        progress.tries,
        progress.problem ?? '',
        claimAfter(entry.claim, progress),
        progress.dueInMs,
        ...(letter ? [memberOf(letter), letter.seq, letter.upTo, letter.tries, letter.problem] : []),
      ],
    });
    return kind === 'left' ? { kind, upTo: Number(upTo) } : { kind };
  }

  async deadLetters(consumer: string, limit: number): Promise<WorkEntry[]> {
    const { dead, work } = this.keys.ofConsumer(consumer);
    const found = await this.scripts.read<string[]>(DEAD_LETTERS, { keys: [dead, work], args: [limit] });
    return pairsOf(found).map(([member, text]) => entryOf(consumer, member, text));
  }

  async resolve(letter: WorkEntry, how: 'retry' | 'drop'): Promise<boolean> {
    const { due, waiting, work, dead } = this.keys.ofConsumer(letter.consumer);
    const keys = [due, waiting, work, dead];
    return Number(await this.scripts.write<NumberReply>(RESOLVE_LETTER, { keys, args: [memberOf(letter), how] })) === 1;
  }

  async lag(consumer: string): Promise<StoredLag> {
    const { waiting, dead } = this.keys.ofConsumer(consumer);
    const [sessions, oldest, deadLetters, now] = await this.scripts.read<
      [NumberReply, string | null, NumberReply, string]
    >(CONSUMER_LAG, { keys: [waiting, dead], args: [] });
    return {
      sessions: Number(sessions),
      ...(oldest !== null && { oldestSince: Number(oldest) }),
      deadLetters: Number(deadLetters),
      now: Number(now),
    };
  }
}

/** The lines are: time of the registration, settings. */
function consumerOf(name: string, text: string): StoredConsumer {
  const end = text.indexOf('\n');
  return { name, registeredAt: Number(text.slice(0, end)), settings: text.slice(end + 1) };
}

/** Names a work entry of a consumer. No id contains NUL. */
function memberOf({ key, incarnation, letterSeq }: Pick<WorkEntry, 'key' | 'incarnation' | 'letterSeq'>): string {
  return [key.appName, key.userId, key.sessionId, incarnation, letterSeq].join('\u0000');
}

/** The lines are: seq, upTo, since, tries, claim, problem. The last one may contain line breaks. */
function entryOf(consumer: string, member: string, text: string): WorkEntry {
  const [appName = '', userId = '', sessionId = '', incarnation = '', letterSeq] = member.split('\u0000');
  const [seq, upTo, since, tries, claim = '', ...problem] = text.split('\n');
  return {
    consumer,
    key: { appName, userId, sessionId },
    incarnation,
    letterSeq: Number(letterSeq),
    seq: Number(seq),
    upTo: Number(upTo),
    since: Number(since),
    tries: Number(tries),
    claim,
    problem: problem.join('\n'),
  };
}
