import type { SessionMetadata } from '../domain/metadata/metadata.js';
import { json, listOf, optional, shape, text } from './shape.js';

const TEXT = { type: 'string', minLength: 1 } as const;
const TITLE = { ...TEXT, maxLength: 1_000 } as const;
const NAME = { ...TEXT, maxLength: 191 } as const;
const TAGS = { type: 'array', items: NAME, maxItems: 64 } as const;
const LABELS = { type: 'object', additionalProperties: NAME, maxProperties: 16, description: 'Text by name.' } as const;
const FIELDS = { type: 'object', additionalProperties: true, maxProperties: 64, description: 'JSON by name.' } as const;

export const METADATA_EXAMPLE = {
  title: 'Refund of order 7',
  status: 'open',
  tags: ['vip'],
  labels: { region: 'eu' },
  fields: { cart: { items: 2 } },
};

export const SESSION_METADATA = shape<SessionMetadata>('SessionMetadata', {
  example: METADATA_EXAMPLE,
  fields: {
    title: optional(text(undefined, TITLE)),
    status: optional(text(undefined, NAME)),
    tags: listOf(text(undefined, NAME), 'Sorted.', { maxItems: 64 }),
    labels: json(LABELS.description, LABELS),
    fields: json(FIELDS.description, FIELDS),
  },
});

/** Of a new session. The rules of sessions check its content. */
export const NEW_METADATA = {
  type: 'object',
  additionalProperties: false,
  properties: { title: TITLE, status: NAME, tags: TAGS, labels: LABELS, fields: FIELDS },
} as const;

/** In `actions` of an event. */
export const METADATA_DELTA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    title: { ...TITLE, nullable: true },
    status: { ...NAME, nullable: true },
    tags: { type: 'object', additionalProperties: false, properties: { add: TAGS, remove: TAGS } },
    labels: { ...LABELS, additionalProperties: { ...NAME, nullable: true }, description: '`null` removes a label.' },
    fields: { ...FIELDS, description: 'Fields to set; `null` is a value.' },
    fieldRemovals: { type: 'array', items: NAME },
  },
} as const;
