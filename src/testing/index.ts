export { AgentScenario, type GivenSession, type TurnOptions, type TurnOutcome } from './agents/agent-scenario.js';
export {
  type RecordedSession,
  type Replay,
  type ReplayedTurn,
  type ReplayOptions,
  replaySession,
} from './agents/replay-session.js';
export { type SaidEvent, type StateDifference, saidEvents } from './agents/said-event.js';
export { type AskOptions, type ScriptedAnswer, ScriptedModel } from './agents/scripted-model.js';
export { type WaitForEventOptions, waitForEvent } from './agents/wait-for-event.js';
export type { Skip } from './contract-runner.js';
export { type ServiceContractOptions, describeSessionService } from './describe-session-service.js';
export { type CreateStorage, type StorageContractOptions, describeSessionStorage } from './describe-session-storage.js';
export { ManualClock } from './manual-clock.js';
export {
  type CreateSessions,
  type OpenSessions,
  type SessionClient,
  type SessionSettings,
  sessionsOver,
} from './open-sessions.js';
export type { OpenStorage, RawData } from './open-storage.js';
