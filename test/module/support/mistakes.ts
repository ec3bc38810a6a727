import { ConfigurationError, sessionsFromEnvironment } from '../../../src/config/index.js';

/** What is found to be wrong with an environment. */
export function mistakeIn(env: NodeJS.ProcessEnv): ConfigurationError {
  try {
    sessionsFromEnvironment(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error(`Nothing was found to be wrong with ${JSON.stringify(env)}`);
}
