export { ConfigurationError } from './configuration-error.js';
export { type EnvironmentReading, type SessionsConfig, sessionsFromEnvironment } from './sessions-from-environment.js';
export { sessionsConfig } from './sessions.config.js';
export type { TlsChoice, TlsSettings } from './tls-settings.js';
export { type SummarizerConfig, summarizerFromEnvironment } from './summarizer-from-environment.js';
export { summarizerConfig } from './summarizer.config.js';
