import { ConfigurationError, sessionsFromEnvironment } from '../../../src/config/index.js';

/** The error for an invalid environment. */
export function mistakeIn(env: NodeJS.ProcessEnv): ConfigurationError {
  try {
    sessionsFromEnvironment(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error(`No problem was found in ${JSON.stringify(env)}`);
}
