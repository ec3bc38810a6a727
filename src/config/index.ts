export { ConfigurationError } from './configuration-error.js';
export {
  type EnvironmentReading,
  type SessionsConfig,
  sessionsConfig,
  sessionsFromEnvironment,
} from './sessions.config.js';
export { type SummarizerConfig, summarizerConfig, summarizerFromEnvironment } from './summarizer.config.js';
export type { TlsChoice, TlsSettings } from './tls-settings.js';
