import { oneOf } from '../config/setting.js';
import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { checkSetting, optionalFlag } from '../sessions/domain/values/input-checks.js';
import { assertFieldNames, requireRequest } from '../sessions/domain/values/request-fields.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import type { ImportOptions } from './import-result.js';
import type { SkippedSession, TransferFilter } from './transfer-records.js';

/** What to export. */
export interface ExportOptions {
  /** Default: all apps. Apps without sessions must be named. */
  readonly filter?: TransferFilter | undefined;
  /**
   * Where component state is. Default: that of the store itself. Give all of them:
   * `[storage.components, new JsonFileComponentStore({ root })]`.
   */
  readonly components?: readonly ComponentStore[] | undefined;
  /** Called for each session that is left out because it changed again and again, was deleted, or is damaged. */
  readonly onSkipped?: ((skipped: SkippedSession) => void) | undefined;
}

/** What to compare. */
export interface VerifyOptions {
  readonly filter?: TransferFilter | undefined;
  /** Where component state is. Default: in the store itself. `false`: it is not compared. */
  readonly components?: ComponentStore | false | undefined;
  /** Whether state and usage of users and apps are compared. Default `true`. */
  readonly shared?: boolean | undefined;
}

/** Where to erase. */
export interface EraseUserOptions {
  /** Other stores that have component state of the user's sessions, such as JSON files. */
  readonly components?: readonly ComponentStore[] | undefined;
}

const CONFLICTS = { kind: oneOf('fail', 'skip', 'replace') };
const BAD = { kind: oneOf('fail', 'skip') };

/** A misspelled `dryRun` would write, and a misspelled filter take data of all apps. */
export function checkedExport(options: ExportOptions): ExportOptions {
  assertFieldNames(requireRequest(options, 'options', 'filter'), { filter: true, components: true, onSkipped: true });
  assertComponentStores(options);
  return options;
}

/** The same for an erasure. */
export function checkedErasure(options: EraseUserOptions): EraseUserOptions {
  assertFieldNames(requireRequest(options, 'options', 'components'), { components: true });
  assertComponentStores(options);
  return options;
}

/** The same for an import. */
export function checkedImport(options: ImportOptions): ImportOptions {
  assertFieldNames(requireRequest(options, 'options', 'filter'), {
    filter: true,
    dryRun: true,
    onConflict: true,
    onBad: true,
    components: true,
    shared: true,
    cursor: true,
    limits: true,
    usageKeepDays: true,
    onProgress: true,
    signal: true,
  });
  const { onConflict, onBad } = options;
  if (onConflict !== undefined) checkSetting(CONFLICTS, onConflict, 'onConflict');
  if (onBad !== undefined) checkSetting(BAD, onBad, 'onBad');
  assertPlace(options);
  return options;
}

/** The same for a comparison. */
export function checkedVerify(options: VerifyOptions): VerifyOptions {
  assertFieldNames(requireRequest(options, 'options', 'filter'), { filter: true, components: true, shared: true });
  assertPlace(options);
  return options;
}

function assertPlace({ components, shared }: Pick<ImportOptions, 'components' | 'shared'>): void {
  optionalFlag(shared, 'shared');
  if (components !== undefined && components !== false) assertComponentStore(components);
}

function assertComponentStores({ components = [] }: EraseUserOptions): void {
  if (!Array.isArray(components)) throw new InvalidInputError('must be a list of stores', 'components');
  for (const store of components as readonly unknown[]) assertComponentStore(store);
}

function assertComponentStore(store: unknown): void {
  if (typeof (store as Partial<ComponentStore> | null)?.places === 'function') return;
  throw new InvalidInputError('must be a store of components', 'components');
}
