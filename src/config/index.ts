export { ConfigurationError } from './configuration-error.js';
export { sessionsConfig } from './sessions.config.js';
export { type EnvironmentReading, type SessionsConfig, sessionsFromEnvironment } from './sessions-environment.js';
export { type SummarizerConfig, summarizerConfig, summarizerFromEnvironment } from './summarizer-environment.js';
export type { TlsChoice, TlsSettings } from './tls-settings.js';
// What settings are made of.
export type { HistorySettings, SessionLimits, TtlSettings } from './session-settings.js';
export type { DatabaseSettings, RedisSettings, StoreSettings } from './store-settings.js';
export type { BudgetOwner, ModelPrice, UsageBudget, UsageBudgets, UsageSettings } from './usage-settings.js';
