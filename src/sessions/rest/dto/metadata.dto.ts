import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { SessionMetadata } from '../../domain/metadata.js';
import { ApiObject } from './api-object.js';

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

@ApiObject({ name: 'SessionMetadata', additionalProperties: false, example: METADATA_EXAMPLE })
export class SessionMetadataDto implements SessionMetadata {
  @ApiPropertyOptional(TITLE)
  readonly title?: string;

  @ApiPropertyOptional(NAME)
  readonly status?: string;

  @ApiProperty({ ...TAGS, description: 'Sorted.' })
  readonly tags!: string[];

  @ApiProperty(LABELS)
  readonly labels!: Record<string, string>;

  @ApiProperty(FIELDS)
  readonly fields!: Record<string, unknown>;
}

/** In the body of a creation; the domain rules validate its content. */
export const NEW_METADATA = {
  type: 'object',
  additionalProperties: false,
  properties: { title: TITLE, status: NAME, tags: TAGS, labels: LABELS, fields: FIELDS },
} as const;

/** In `actions` of an event. */
export const METADATA_DELTA = {
  type: 'object',
  additionalProperties: false,
  description: 'Changes the metadata of the session. What is not named stays as it is.',
  properties: {
    title: { ...TITLE, nullable: true },
    status: { ...NAME, nullable: true },
    tags: { type: 'object', additionalProperties: false, properties: { add: TAGS, remove: TAGS } },
    labels: { ...LABELS, additionalProperties: { ...NAME, nullable: true }, description: '`null` removes a label.' },
    fields: { ...FIELDS, description: 'Fields to set; `null` is a value.' },
    fieldRemovals: { type: 'array', items: NAME },
  },
} as const;
