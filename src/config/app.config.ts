/** What the app itself, beside the package, takes from its environment. */
export interface AppConfig {
  readonly port: number;
  /** The file that holds the sessions, relative to where the app was started. */
  readonly databaseFile: string;
}

const DEFAULT_PORT = 3000;
const HIGHEST_PORT = 65_535;

/** Reads the configuration; what is wrong stops the start, with a message that names the variable. */
export function appConfigFrom(env: NodeJS.ProcessEnv): AppConfig {
  return { port: portFrom(env.PORT), databaseFile: './data/sessions.db' };
}

function portFrom(text: string | undefined): number {
  if (text === undefined || text.trim() === '') return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= HIGHEST_PORT) return port;
  throw new Error(`PORT is ${JSON.stringify(text)}; it must be a whole number from 0 to ${HIGHEST_PORT}.`);
}
