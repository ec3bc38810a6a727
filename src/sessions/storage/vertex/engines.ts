import { createHash } from 'node:crypto';
import { InvalidInputError } from '../../domain/errors/errors.js';
import type { VertexSessionStorageOptions } from './vertex-options.js';

const FULL_NAME = /^projects\/(\w[\w.:-]*)\/locations\/([a-z0-9-]+)\/reasoningEngines\/(\d+)$/;
/** What only looks like a full name, and must not be taken for a name of the app. */
const LOOKS_FULL = /^projects\/.*\/reasoningEngines\//;
const ID = /^\d+$/;

/** The label of sessions whose app name does not name the engine. */
export const APP_LABEL = 'agent_sessions_app';

/** Where the sessions of an app are. */
export interface Engine {
  /** `projects/…/locations/…/reasoningEngines/…`. */
  readonly name: string;
  /** The address of the engine. */
  readonly url: string;
  /** The address of a resource by its full name. */
  urlOf(resource: string): string;
  /** The value of {@link APP_LABEL}; undefined if the app name is that of the engine. */
  readonly appLabel: string | undefined;
}

type EngineOptions = Pick<VertexSessionStorageOptions, 'project' | 'location' | 'reasoningEngine' | 'endpoint'>;

const VERSION = 'v1beta1';

/** The engine of an app name: an id, a full resource name or, for other names, the configured engine. */
export function engineOf(appName: string, options: EngineOptions): Engine {
  const isEngine = ID.test(appName) || FULL_NAME.test(appName);
  const wanted = isEngine ? appName : options.reasoningEngine;
  const isOdd = !isEngine && LOOKS_FULL.test(appName);
  const name = wanted === undefined || isOdd ? undefined : fullName(wanted, options);
  const location = name === undefined ? undefined : FULL_NAME.exec(name)?.[2];
  if (name === undefined || location === undefined) {
    throw new InvalidInputError(
      'must be the id of a reasoning engine, or projects/…/locations/…/reasoningEngines/…, unless an engine is configured',
      'appName',
    );
  }
  const base = `${(options.endpoint ?? `https://${location}-aiplatform.googleapis.com`).replace(/\/+$/, '')}/${VERSION}`;
  return {
    name,
    url: `${base}/${name}`,
    urlOf: (resource) => `${base}/${resource}`,
    appLabel: isEngine ? undefined : labelOf(appName),
  };
}

function fullName(engine: string, { project, location }: EngineOptions): string | undefined {
  if (FULL_NAME.test(engine)) return engine;
  if (!ID.test(engine) || project === undefined || location === undefined) return undefined;
  return `projects/${project}/locations/${location}/reasoningEngines/${engine}`;
}

/** Labels have few characters, so names are hashed. */
function labelOf(appName: string): string {
  return createHash('sha256').update(appName).digest('hex').slice(0, 40);
}
