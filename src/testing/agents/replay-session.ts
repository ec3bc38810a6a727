import { isDeepStrictEqual } from 'node:util';
import type { RunHandler } from '../../agents/index.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import { AgentScenario } from './agent-scenario.js';
import { type SaidEvent, type StateDifference, saidEvents, stateDifferences } from './said-event.js';

/** A recorded conversation. A `Session` is one. */
export interface RecordedSession {
  readonly events: readonly EventInput[];
  /** The state at the end. Default: what follows from the events. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
}

/** How to replay. */
export interface ReplayOptions {
  /** The state before the first event. */
  readonly initialState?: Record<string, unknown> | undefined;
  /** The author of events that name none. Default: the first author in the recording besides user and system. */
  readonly agentName?: string | undefined;
  /** Whether two events count as the same. Default: they say the same. */
  readonly isSame?: ((recorded: SaidEvent, replayed: SaidEvent) => boolean) | undefined;
}

/** A message of the user, and what followed it then and now. */
export interface ReplayedTurn {
  readonly message: string;
  readonly recorded: readonly SaidEvent[];
  readonly replayed: readonly SaidEvent[];
  readonly isSame: boolean;
  /** What the agent threw in the replay, if it did. The next turns are replayed all the same. */
  readonly error?: unknown;
}

/** How a replay differs from what was recorded. */
export interface Replay {
  readonly isSame: boolean;
  readonly turns: readonly ReplayedTurn[];
  readonly state: readonly StateDifference[];
  /** The differences to read: `-` was recorded, `+` is new. */
  readonly text: string;
}

/**
 * Gives the messages of a recorded session to an agent, with another prompt or model, and compares what it says and what
 * state it leaves.
 *
 * @example
 * const replay = await replaySession(await sessions.getSession(key), agentWithNewPrompt);
 * if (!replay.isSame) console.log(replay.text);
 */
export async function replaySession(
  { events, state }: RecordedSession,
  agent: RunHandler,
  { initialState, agentName = agentIn(events), isSame = isDeepStrictEqual }: ReplayOptions = {},
): Promise<Replay> {
  const scenario = await AgentScenario.given({ state: initialState });
  try {
    const turns: ReplayedTurn[] = [];
    for (const { message, recorded } of turnsIn(events)) {
      const { replayed, ...failure } = await replayOf(scenario, message, agent, agentName);
      const fits =
        recorded.length === replayed.length && recorded.every((each, index) => fitsAt(each, replayed[index], isSame));
      turns.push({ message, recorded, replayed, isSame: fits, ...failure });
    }
    const before = state === undefined ? folded(initialState, events) : storedState(state);
    const differences = stateDifferences(before, await scenario.state());
    const isWhole = differences.length === 0 && turns.every((turn) => turn.isSame);
    return { isSame: isWhole, turns, state: differences, text: formatReplayReport(turns, differences) };
  } finally {
    await scenario.close();
  }
}

/** What a message leads to, also if the agent fails: then the log says so. */
async function replayOf(
  scenario: AgentScenario,
  message: string,
  agent: RunHandler,
  agentName: string | undefined,
): Promise<Pick<ReplayedTurn, 'replayed' | 'error'>> {
  const before = await scenario.events();
  try {
    const { events } = await scenario.whenTurn(message, agent, { agentName });
    return { replayed: events };
  } catch (error) {
    const after = await scenario.events();
    return { replayed: after.slice(before.length).filter(({ author }) => author !== 'user'), error };
  }
}

function agentIn(events: readonly EventInput[]): string | undefined {
  return saidEvents(events).find(({ author }) => !['', 'user', 'system'].includes(author.toLowerCase()))?.author;
}

function fitsAt(
  recorded: SaidEvent,
  replayed: SaidEvent | undefined,
  isSame: NonNullable<ReplayOptions['isSame']>,
): boolean {
  return replayed !== undefined && isSame(recorded, replayed);
}

/** A turn begins with a text of the user. What is before the first one is left out. */
function turnsIn(events: readonly EventInput[]): { readonly message: string; readonly recorded: SaidEvent[] }[] {
  const turns: { readonly message: string; readonly recorded: SaidEvent[] }[] = [];
  for (const event of saidEvents(events)) {
    if (event.author === 'user' && event.text !== undefined) turns.push({ message: event.text, recorded: [] });
    else turns.at(-1)?.recorded.push(event);
  }
  return turns;
}

function folded(initial: Record<string, unknown> = {}, events: readonly EventInput[]): Record<string, unknown> {
  const state = { ...initial };
  for (const { actions } of events) {
    Object.assign(state, actions?.stateDelta);
    for (const key of actions?.stateRemovals ?? []) delete state[key];
  }
  return storedState(state);
}

function storedState(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const record =
    'toRecord' in state && typeof state['toRecord'] === 'function' ? (state['toRecord']() as object) : state;
  return Object.fromEntries(Object.entries(record).filter(([key]) => !key.startsWith('temp:')));
}

function formatReplayReport(turns: readonly ReplayedTurn[], state: readonly StateDifference[]): string {
  const lines = turns.flatMap((turn) =>
    turn.isSame
      ? [`  ${turn.message}`]
      : [
          `  ${turn.message}`,
          ...turn.recorded.map((event) => `- ${JSON.stringify(event)}`),
          ...turn.replayed.map((event) => `+ ${JSON.stringify(event)}`),
          ...('error' in turn ? [`! ${String(turn.error)}`] : []),
        ],
  );
  const changed = state.flatMap(({ key, before, after }) => [
    ...(before === undefined ? [] : [`- state ${key}: ${JSON.stringify(before)}`]),
    ...(after === undefined ? [] : [`+ state ${key}: ${JSON.stringify(after)}`]),
  ]);
  return [...lines, ...changed].join('\n');
}
