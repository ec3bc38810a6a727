import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { InvalidInputError } from '../../domain/errors.js';
import type { SessionFilter } from '../../domain/submitted-metadata.js';

interface NumberDescription {
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

const isNumber = Matches(/^\d{1,15}$/, { message: 'must be a whole number' });

/** A whole number in a query, which arrives as text. */
export const QueryNumber = (schema: NumberDescription): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ type: 'integer', minimum: 0, ...schema }), IsOptional(), isNumber);

/** The same, and it must be given. */
export const RequiredQueryNumber = (schema: NumberDescription): PropertyDecorator =>
  applyDecorators(ApiProperty({ type: 'integer', minimum: 0, ...schema }), isNumber);

/** The name of the enum in the OpenAPI document, so that generated clients have one type for it. */
const ENUMS = {
  SortOrder: { values: ['asc', 'desc'], description: 'Ascending or descending.' },
  SessionOrderBy: { values: ['lastUpdateTime', 'createTime'], description: 'The time that sessions are ordered by.' },
} as const;

/** An enum value in a query. */
function QueryEnum<Name extends keyof typeof ENUMS>(
  enumName: Name,
  schema: { readonly description: string; readonly default: (typeof ENUMS)[Name]['values'][number] },
): PropertyDecorator {
  const { values, ...enumSchema } = ENUMS[enumName];
  return applyDecorators(
    ApiPropertyOptional({ enumName, enum: [...values], enumSchema, ...schema }),
    IsOptional(),
    IsIn([...values]),
  );
}

/** The number itself, after the check. */
export function numberOf(text: string): number;
export function numberOf(text: string | undefined): number | undefined;
export function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

const NAME = { type: 'string', minLength: 1, maxLength: 191 } as const;

/** The query parameters of all lists. */
export class PageQuery {
  @QueryNumber({ description: 'Items per page.', maximum: 1_000, default: 100 })
  limit?: string;

  @ApiPropertyOptional({ type: 'string', description: 'The `nextCursor` of the previous page.' })
  @IsOptional()
  @IsString()
  cursor?: string;
}

export class ListSessionsQuery extends PageQuery {
  @QueryEnum('SortOrder', { description: 'Newest first by default.', default: 'desc' })
  order?: 'asc' | 'desc';

  @QueryEnum('SessionOrderBy', {
    description: 'With `createTime`, walking through all pages is complete even while sessions change.',
    default: 'lastUpdateTime',
  })
  orderBy?: 'lastUpdateTime' | 'createTime';

  @QueryNumber({ description: 'Page number from 1, with totals; instead of `cursor`.', minimum: 1 })
  page?: string;

  @QueryNumber({ description: 'Sessions to skip, with totals; instead of `cursor`.', maximum: 10_000 })
  offset?: string;

  @ApiPropertyOptional({
    type: 'boolean',
    description: 'Whether to read the state of the sessions; `false` answers an empty one.',
    default: true,
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  includeState?: 'true' | 'false';

  @ApiPropertyOptional({ ...NAME, description: 'Only sessions with this status. Not with `page` or `offset`.' })
  @IsOptional()
  @IsString()
  status?: string;

  @ApiPropertyOptional({
    type: 'array',
    items: NAME,
    description: 'Only sessions with all of these tags; one parameter each. Not with `page` or `offset`.',
  })
  @Allow()
  tag?: string | string[];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string' },
    description:
      'Only sessions with all of these labels, each as `name:value`; one parameter each. Percent-encode colons and percent signs inside. Not with `page` or `offset`.',
  })
  @Allow()
  label?: string | string[];
}

export class GetSessionQuery {
  @QueryNumber({ description: 'Only the newest events, this many; 0 for none.' })
  numRecentEvents?: string;

  @QueryNumber({ description: 'Only events of this time or later, in epoch milliseconds.' })
  afterTimestamp?: string;

  @QueryNumber({ description: 'Only events after this one.' })
  afterSeq?: string;
}

export class ListEventsQuery extends PageQuery {
  @QueryEnum('SortOrder', { description: 'Oldest first by default.', default: 'asc' })
  order?: 'asc' | 'desc';

  @QueryNumber({ description: 'Only events after this one.' })
  afterSeq?: string;

  @QueryNumber({ description: 'Only events before this one.' })
  beforeSeq?: string;

  @ApiPropertyOptional({
    type: 'string',
    minLength: 1,
    description: 'Only events of this invocation, without rewinds.',
  })
  @IsOptional()
  @IsString()
  invocationId?: string;
}

export class StreamQuery {
  @QueryNumber({ description: 'Only events after this one.' })
  afterSeq?: string;

  @ApiPropertyOptional({
    type: 'boolean',
    description: 'Whether each event says in `statePatch` what it changes in the state, as JSON Patch (RFC 6902).',
    default: false,
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  stateDeltas?: 'true' | 'false';

  @ApiPropertyOptional({
    type: 'boolean',
    description: 'Whether to send what running agents say, before it is stored: events with `partial: true`.',
    default: false,
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  partials?: 'true' | 'false';
}

/** The parameters of a filter. One that is given once arrives as text, one that is repeated as an array. */
export interface FilterQuery {
  readonly status?: string | undefined;
  readonly tag?: string | string[] | undefined;
  readonly label?: string | string[] | undefined;
}

/** The filter that the parameters ask for, if any. The rules of sessions check its names. */
export function filterOf({ status, tag, label }: FilterQuery): SessionFilter | undefined {
  if (status === undefined && tag === undefined && label === undefined) return undefined;
  return {
    ...(status !== undefined && { status }),
    ...(tag !== undefined && { tags: textsOf(tag, 'tag') }),
    ...(label !== undefined && { labels: labelsOf(textsOf(label, 'label')) }),
  };
}

function textsOf(value: unknown, name: string): string[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  return texts.map((text) => {
    if (typeof text !== 'string') throw new InvalidInputError('must be text', name);
    return text;
  });
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  const labels = new Map<string, string>();
  for (const text of texts) {
    const [name, value, ...rest] = text.split(':');
    if (name === undefined || value === undefined || rest.length > 0) throw wrongLabel();
    if (labels.has(decoded(name))) throw new InvalidInputError('must name each label once', 'label');
    labels.set(decoded(name), decoded(value));
  }
  return Object.fromEntries(labels);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrongLabel();
  }
}

function wrongLabel(): InvalidInputError {
  return new InvalidInputError('must be name:value, with colons and percent signs in both percent-encoded', 'label');
}
