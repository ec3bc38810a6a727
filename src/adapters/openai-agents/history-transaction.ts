import type { AgentInputItem, SessionHistoryTransactionArgs } from '@openai/agents-core';
import { digestOf, isPlainObject, setField } from '../../adapter.js';
import { InvalidInputError } from '../../index.js';
import { type CopiedItem, copiedItem } from './plain-item.js';

/** A transaction as it was when it was handed over. */
export interface CheckedTransaction {
  readonly operationId: string;
  /** Missing for an append. */
  readonly expectedSuffix?: readonly AgentInputItem[];
  readonly items: readonly AgentInputItem[];
  readonly digest: string;
}

const FIELDS = {
  append_items: ['type', 'items'],
  replace_suffix: ['type', 'expectedSuffix', 'replacement'],
} as const;

const LONGEST_ID = 10_000;

/** Copies a transaction, and refuses one that cannot be repeated and compared. Reads each field once. */
export function checkedTransaction(args: SessionHistoryTransactionArgs): CheckedTransaction {
  const { operationId, transaction } = readTransactionArguments(args);
  if (typeof operationId !== 'string' || operationId.trim() === '' || operationId.length > LONGEST_ID) {
    throw new InvalidInputError(`must be a non-empty string of at most ${LONGEST_ID} characters`, 'operationId');
  }
  if (!isPlainObject(transaction)) throw new InvalidInputError('must be an object', 'transaction');
  const given = copyTransaction(transaction);
  const { type } = given;
  if (type !== 'append_items' && type !== 'replace_suffix') {
    throw new InvalidInputError('must be append_items or replace_suffix', 'transaction.type');
  }
  const fields: readonly string[] = FIELDS[type];
  const other = Object.keys(given).find((name) => !fields.includes(name));
  if (other !== undefined) throw new InvalidInputError(`has fields other than ${fields.join(', ')}`, 'transaction');
  const items = checkedItems(type === 'append_items' ? given.items : given.replacement, 'transaction.items');
  const expected =
    type === 'append_items' ? undefined : checkedItems(given.expectedSuffix, 'transaction.expectedSuffix');
  const digest = digestOf([type, (expected ?? []).map(comparable), items.map(comparable)]);
  return {
    operationId,
    digest,
    items: items.map(({ given: item }) => item),
    ...(expected && { expectedSuffix: expected.map(({ given: item }) => item) }),
  };
}

function readTransactionArguments(args: unknown): { readonly operationId: unknown; readonly transaction: unknown } {
  try {
    const { operationId, transaction } = args as Record<string, unknown>;
    return { operationId, transaction };
  } catch {
    throw new InvalidInputError('must be an object with operationId and transaction', 'args');
  }
}

interface CheckedItem {
  readonly given: AgentInputItem;
  readonly copied: CopiedItem;
}

function checkedItems(given: unknown, path: string): CheckedItem[] {
  if (!Array.isArray(given)) throw new InvalidInputError('must be an array of items', path);
  return given.map((item: unknown, index) => ({
    given: item as AgentInputItem,
    copied: copiedItem(item, `${path}[${index}]`),
  }));
}

/** Only plain data and bytes: whatever else is stored would not equal what a retry sends. */
function copyTransaction(transaction: Record<string, unknown>): Record<string, unknown> {
  const snapshot = plainCopy(transaction, []) as Record<string, unknown>;
  try {
    // Refuses proxies.
    structuredClone(transaction);
  } catch {
    throw unsupported();
  }
  return snapshot;
}

const PLAIN = new Set(['string', 'boolean', 'number', 'undefined']);

function plainCopy(value: unknown, ancestors: readonly unknown[]): unknown {
  if (value === null || PLAIN.has(typeof value)) return value;
  // Not `slice`: the bytes may be shared with another thread.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (!(Array.isArray(value) || isPlainObject(value)) || ancestors.includes(value)) throw unsupported();
  const names = Reflect.ownKeys(value).filter((name) => name !== 'length' || !Array.isArray(value));
  if (Array.isArray(value) && names.length !== value.length) throw unsupported();
  const copy: object = Array.isArray(value) ? [] : {};
  for (const name of names) {
    if (!isField(value, name)) throw unsupported();
    setField(copy, String(name), plainCopy(Reflect.get(value, name), [...ancestors, value]));
  }
  return copy;
}

/** Without any content of the items. */
function unsupported(): InvalidInputError {
  return new InvalidInputError('the items contain invalid or unsupported data', 'transaction');
}

function isField(value: object, name: string | symbol): boolean {
  const field = Object.getOwnPropertyDescriptor(value, name);
  return typeof name === 'string' && field?.enumerable === true && 'value' in field;
}

function comparable({ copied: { item, bytes } }: CheckedItem): unknown {
  return [item, bytes];
}

/** Whether two items are the same, whatever the order of their fields. */
export function isSameItem(one: AgentInputItem, other: AgentInputItem): boolean {
  return digestOfItem(one) === digestOfItem(other);
}

function digestOfItem(item: AgentInputItem): string {
  const { item: plain, bytes } = copiedItem(item);
  return digestOf([plain, bytes]);
}
