import { inspect } from 'node:util';
import { ConfigurationError } from '../config/configuration-error.js';
import { problemsOfOptions } from '../config/option-checks.js';
import { type SettingsOf, isRecord, kindOf } from '../config/setting.js';
import { MAX_ID_BYTES, isId } from '../sessions/domain/values/ids.js';
import { type StandardSchema, isStandardSchema } from '../state/standard-schema.js';
import { RUN_SETTINGS, isNameOfUser } from './ask/run-settings.js';
import type { RunPolicy } from './turn/run-policy.js';

/** An agent that answers the messages of an app. */
export interface AgentOptions {
  /**
   * The app whose messages it answers, several, or a function that says which: one agent for all tenants, if each is an app. An agent
   * that names an app goes before a function.
   */
  readonly app: string | readonly string[] | ((appName: string) => boolean);
  /** The author of its events. Default: the name of the app. */
  readonly name?: string | undefined;
  /** What happens with messages that overlap, unless the request says otherwise. Default: `reject`. */
  readonly policy?: RunPolicy | undefined;
  /** How long `debounce` waits for further messages, unless the request says otherwise. Default: 1,000 ms. */
  readonly quietMs?: number | undefined;
  readonly outputKey?: string | undefined;
  readonly outputSchema?: StandardSchema | undefined;
  /** Learns why an output does not fit `outputSchema`. If it throws, the run fails, and nothing is saved. Default: a warning in the log. */
  readonly onMismatch?: ((problem: string) => void) | undefined;
  /** Checks the payloads of answers to approvals, by the name of the tool that asks. */
  readonly approvals?: Readonly<Record<string, StandardSchema>> | undefined;
}

const APPS = 'the name of the app whose messages it answers, several, or a function of a name';

const AGENT: SettingsOf<AgentOptions> = {
  app: {
    kind: kindOf(
      APPS,
      (app) => typeof app === 'function' || (listAppNames(app).length > 0 && listAppNames(app).every(isId)),
    ),
  },
  name: {
    kind: kindOf(
      `a name of at most ${MAX_ID_BYTES} bytes, other than user`,
      (name) => isId(name) && !isNameOfUser(name),
    ),
  },
  ...RUN_SETTINGS,
  approvals: {
    kind: kindOf(
      'an object with such schemas, by names of tools',
      (schemas) => isRecord(schemas) && Object.values(schemas).every(isStandardSchema),
    ),
  },
};

/**
 * Refuses options of an agent that no message could be answered with, before one comes. Reports all problems at once.
 *
 * @throws ConfigurationError
 */
export function checkHandlerOptions(options: AgentOptions): void {
  const problems = [...problemsOfOptions(options, AGENT), ...problemsTogether(options)];
  const agent = `The agent of ${inspect(options.app)}`;
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `${agent}: ${problem}`));
}

function problemsTogether({ app, name, outputKey, outputSchema, onMismatch }: AgentOptions): string[] {
  const user = listAppNames(app).find((each) => typeof each === 'string' && isNameOfUser(each));
  return [
    ...(app === undefined ? [`app is missing; it must be ${APPS}.`] : []),
    ...(user !== undefined && name === undefined
      ? [`name is missing; an agent of the app ${JSON.stringify(user)} needs another name than user.`]
      : []),
    ...(outputSchema !== undefined && outputKey === undefined
      ? ['outputSchema has no effect without outputKey; set both.']
      : []),
    ...(onMismatch !== undefined && outputSchema === undefined
      ? ['onMismatch has no effect without outputSchema; set both.']
      : []),
  ];
}

/** The apps that an agent names. */
export function listAppNames(app: unknown): readonly unknown[] {
  if (typeof app === 'function') return [];
  return Array.isArray(app) ? app : [app];
}
