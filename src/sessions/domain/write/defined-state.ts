import { type StateDefinitions, definitionFor } from '../../../state/define-state.js';
import { InvalidInputError } from '../errors/errors.js';
import { childPath } from '../values/json-value.js';

/** Those of these keys that clients must not write. */
export function serverOnlyKeys(
  definitions: readonly StateDefinitions[],
  appName: string,
  keys: readonly string[],
): string[] {
  const ofApp = definitions.flatMap((each) => definitionFor(each, appName) ?? []);
  return keys.filter((key) => ofApp.some((definition) => definition.isServerOnly(key)));
}

/** Refuses values that the definition of the app's state does not allow. `path` is the object with the values. */
export function assertDefinedState(
  definitions: StateDefinitions | undefined,
  appName: string,
  stateDelta: Readonly<Record<string, unknown>>,
  path: string,
): void {
  const problem = definitions && definitionFor(definitions, appName)?.problemIn(stateDelta);
  if (!problem) return;
  const place = problem.path.reduce<string>(
    (parent, key) => childPath(parent, typeof key === 'number' ? key : String(key)),
    childPath(path, problem.key),
  );
  throw new InvalidInputError(problem.message, place);
}
