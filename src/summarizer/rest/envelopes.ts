import { IsBoolean, IsOptional, Matches } from 'class-validator';
import { WHOLE } from '../../sessions/rest/envelopes.js';

/** What `POST …/summary` takes. */
export class SummaryBody {
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

export class ListSummariesQuery {
  @IsOptional()
  @Matches(...WHOLE)
  limit?: string;

  @IsOptional()
  @Matches(...WHOLE)
  afterSeq?: string;
}
