import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { LONGEST_LEASE_MS, SHORTEST_LEASE_MS } from '../../domain/coordination-rules.js';
import type { Turn, TurnHolder } from '../../operations/turns.js';
import { ApiObject } from './api-object.js';
import { ID, SessionKeyDto } from './session.dto.js';

const TTL = {
  type: 'integer',
  minimum: SHORTEST_LEASE_MS,
  maximum: LONGEST_LEASE_MS,
  description: 'How long the turn lasts from now on, in milliseconds; 30,000 if left out.',
} as const;

const HOLDER_EXAMPLE = { holder: 'worker-7', number: 3, expiresAt: 1_767_225_630_000 };
const TURN_EXAMPLE = {
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  token: '5f0c6c1e-6f0e-4c55-9d1a-0b9a3d1d8a52',
  ...HOLDER_EXAMPLE,
  ttlMs: 30_000,
};

@ApiObject({ name: 'TurnHolder', additionalProperties: false, example: HOLDER_EXAMPLE })
export class TurnHolderDto implements TurnHolder {
  @ApiProperty({ ...ID, description: 'Who holds the turn.' })
  readonly holder!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Counts the turns of the session.' })
  readonly number!: number;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'When the turn is over, by the clock of the store.' })
  readonly expiresAt!: number;
}

@ApiObject({ name: 'Turn', additionalProperties: false, example: TURN_EXAMPLE })
export class TurnDto extends IntersectionType(SessionKeyDto, TurnHolderDto) implements Turn {
  @ApiProperty({ ...ID, description: 'The value of `Turn-Token`. Keep it from other writers.' })
  readonly token!: string;

  @ApiProperty(TTL)
  readonly ttlMs!: number;
}

/** What `PATCH …/turn` takes. */
@ApiObject({ name: 'TurnRenewal', additionalProperties: false, example: { ttlMs: 30_000 } })
export class RenewTurnBody {
  @ApiPropertyOptional(TTL)
  @IsOptional()
  @IsInt()
  ttlMs?: number;
}

/** What `POST …/turn` takes. */
@ApiObject({ name: 'NewTurn', additionalProperties: false, example: { holder: 'worker-7', ttlMs: 30_000 } })
export class BeginTurnBody extends RenewTurnBody {
  @ApiProperty({ ...ID, description: 'Names the writer to others.' })
  @IsString()
  holder!: string;

  @ApiPropertyOptional({ ...ID, description: 'Makes retries safe: the same holder gets its turn again.' })
  @IsOptional()
  @IsString()
  requestId?: string;
}
