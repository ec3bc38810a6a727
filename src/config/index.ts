export { ConfigurationError } from './configuration-error.js';
export { sessionsConfig } from './sessions.config.js';
export { type EnvironmentReading, type SessionsConfig, sessionsFromEnvironment } from './sessions-environment.js';
export { type SummarizerConfig, summarizerConfig, summarizerFromEnvironment } from './summarizer.config.js';
export type { TlsChoice, TlsSettings } from './tls-settings.js';
