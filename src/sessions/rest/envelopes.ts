import { Allow, IsIn, IsInt, IsOptional, IsString, Matches, Min } from 'class-validator';

/** A number as it stands in a query. */
export const WHOLE = [/^\d{1,15}$/, { message: 'must be a whole number' }] as const;

/** The number itself, once it was checked. */
export function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** What `POST …/sessions` takes. The state is checked by the rules of sessions, not here. */
export class CreateSessionBody {
  @IsOptional()
  @IsString()
  sessionId?: string;

  @Allow()
  state?: unknown;
}

/** What `POST …/sessions/{id}` takes. */
export class CreateSessionWithIdBody {
  @Allow()
  state?: unknown;
}

/** What `PATCH …/state` takes. */
export class ChangeStateBody {
  @Allow()
  stateDelta?: unknown;

  @Allow()
  stateRemovals?: unknown;
}

export class RewindBody {
  @IsOptional()
  @IsInt()
  @Min(0)
  toSeq?: number;

  @IsOptional()
  @IsString()
  invocationId?: string;
}

export class ForkBody {
  @IsOptional()
  @IsInt()
  @Min(0)
  atSeq?: number;

  @IsOptional()
  @IsString()
  newSessionId?: string;
}

export class GetSessionQuery {
  @IsOptional()
  @Matches(...WHOLE)
  numRecentEvents?: string;

  @IsOptional()
  @Matches(...WHOLE)
  afterTimestamp?: string;

  @IsOptional()
  @Matches(...WHOLE)
  afterSeq?: string;
}

class PageQuery {
  @IsOptional()
  @Matches(...WHOLE)
  limit?: string;

  @IsOptional()
  @IsString()
  cursor?: string;

  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';
}

export class ListSessionsQuery extends PageQuery {
  @IsOptional()
  @IsIn(['lastUpdateTime', 'createTime'])
  orderBy?: 'lastUpdateTime' | 'createTime';

  @IsOptional()
  @Matches(...WHOLE)
  page?: string;

  @IsOptional()
  @Matches(...WHOLE)
  offset?: string;
}

export class ListEventsQuery extends PageQuery {
  @IsOptional()
  @Matches(...WHOLE)
  afterSeq?: string;

  @IsOptional()
  @Matches(...WHOLE)
  beforeSeq?: string;
}

export class StreamQuery {
  @IsOptional()
  @Matches(...WHOLE)
  afterSeq?: string;
}
