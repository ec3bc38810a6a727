import { InvalidInputError, MissingInstructionValueError } from '../sessions/domain/errors/errors.js';
import { type Placeholder, parseTemplate } from './placeholders.js';
import { type State, isState, trackedValuesOf } from './state.js';

/** Where a template finds its values: a session, its state, or a plain object with the same keys. */
export type InstructionState = { readonly state: State } | State | Readonly<Record<string, unknown>>;

/** What {@link RenderInstructionOptions.artifacts} returns: text, or a part with text; nothing if there is no such artifact. */
export type ArtifactText = string | { readonly text?: string; readonly [field: string]: unknown } | null | undefined;

/** What else an instruction may insert. */
export interface RenderInstructionOptions {
  /** Loads `{artifact.name}`. Called once for each name, and only if no state value is missing. */
  readonly artifacts?: (name: string) => ArtifactText | Promise<ArtifactText>;
}

/**
 * The instruction with the values of its placeholders: `{key}`, `{user:name}`, `{app:name}`, `{temp:name}`,
 * `{artifact.name}`, and `{key?}`, which may be missing. Objects are written as JSON. Values are inserted as they are:
 * braces in a value mean nothing. Text in braces that is no valid name, such as JSON, stays as it is.
 *
 * @throws MissingInstructionValueError if a value is missing that is not optional
 * @example
 * await renderInstruction('Answer {user:name} in {language?}.', session); // 'Answer Ann in .'
 */
export async function renderInstruction(
  template: string,
  state: InstructionState,
  options: RenderInstructionOptions = {},
): Promise<string> {
  if (typeof template !== 'string') throw new InvalidInputError('must be a string', 'template');
  const pieces = parseTemplate(template);
  const placeholders = pieces.filter((piece) => typeof piece !== 'string');
  const values = stateTexts(listPlaceholderNames(placeholders, 'state'), createStateReader(state));
  refuseMissing(placeholders, 'state', values);
  const artifacts = await artifactTexts(listPlaceholderNames(placeholders, 'artifact'), options);
  refuseMissing(placeholders, 'artifact', artifacts);
  const textOfPlaceholder = ({ kind, name }: Placeholder): string =>
    (kind === 'state' ? values : artifacts).get(name) ?? '';
  return pieces.map((piece) => (typeof piece === 'string' ? piece : textOfPlaceholder(piece))).join('');
}

type Texts = ReadonlyMap<string, string>;

function listPlaceholderNames(placeholders: readonly Placeholder[], kind: Placeholder['kind']): string[] {
  return [...new Set(placeholders.filter((each) => each.kind === kind).map(({ name }) => name))];
}

function createStateReader(source: InstructionState): (key: string) => unknown {
  if (typeof source !== 'object' || source === null) {
    throw new InvalidInputError('must be a session, its state, or an object', 'state');
  }
  const state = findState(source);
  if (!state) return (key) => (Object.hasOwn(source, key) ? (source as Record<string, unknown>)[key] : undefined);
  const values = trackedValuesOf(state);
  return (key) => values.peek(key);
}

function findState(source: InstructionState): State | undefined {
  if (isState(source)) return source;
  return isState(source.state) ? source.state : undefined;
}

function stateTexts(names: readonly string[], read: (key: string) => unknown): Texts {
  const values = names.map((name) => [name, read(name)] as const).filter(([, value]) => value !== undefined);
  return new Map(values.map(([name, value]) => [name, formatInstructionValue(value, name)]));
}

async function artifactTexts(names: readonly string[], { artifacts }: RenderInstructionOptions): Promise<Texts> {
  if (names.length === 0) return new Map();
  if (!artifacts)
    throw new InvalidInputError('must load the artifacts that the instruction names', 'options.artifacts');
  const loaded = await Promise.all(names.map(async (name) => [name, await artifacts(name)] as const));
  const found = loaded.flatMap(([name, artifact]) =>
    artifact === undefined || artifact === null ? [] : [[name, artifactText(artifact, name)] as const],
  );
  return new Map(found);
}

function artifactText(artifact: NonNullable<ArtifactText>, name: string): string {
  if (typeof artifact === 'object' && typeof artifact.text === 'string') return artifact.text;
  return formatInstructionValue(artifact, `artifact.${name}`);
}

function formatInstructionValue(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidInputError('cannot be written as JSON', name);
  }
}

function refuseMissing(placeholders: readonly Placeholder[], kind: Placeholder['kind'], found: Texts): void {
  const missing = placeholders.find((each) => each.kind === kind && !each.isOptional && !found.has(each.name));
  if (missing) throw new MissingInstructionValueError(kind === 'artifact' ? `artifact.${missing.name}` : missing.name);
}
