import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, IsBoolean, IsDefined, IsIn, IsInt, IsObject, IsOptional, IsString, Max, Min } from 'class-validator';
import { ApiObject } from '../../sessions/rest/dto/api-object.js';
import { QueryNumber } from '../../sessions/rest/dto/query.dto.js';
import { SessionKeyDto } from '../../sessions/rest/dto/session.dto.js';
import { STATE } from '../../sessions/rest/dto/state.dto.js';
import type { Content } from '../../sessions/domain/content.js';
import type { AskedCall, PendingApproval } from '../approvals.js';
import { RUN_POLICIES, type RunPolicy } from '../control-events.js';
import { MAX_QUIET_MS } from '../run-request.js';

const MESSAGE = { role: 'user', parts: [{ text: 'Where is my order?' }] };

const USER_CONTENT = {
  type: 'object',
  required: ['parts'],
  properties: {
    role: { type: 'string', enum: ['user'] },
    parts: { type: 'array', minItems: 1, items: { type: 'object', additionalProperties: true } },
  },
  additionalProperties: true,
};

/** The body of a run, with the fields of ADK. */
@ApiObject({
  name: 'RunAgent',
  additionalProperties: false,
  example: { newMessage: MESSAGE, policy: 'enqueue', invocationId: 'inv-7' },
})
export class RunBody {
  @ApiProperty({
    oneOf: [{ type: 'string', pattern: '\\S' }, USER_CONTENT],
    description: 'What the user says: a text, or a content with at least one part that says something.',
    example: MESSAGE,
  })
  @IsDefined()
  newMessage!: Content | string;

  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Whether a stream also has partial events, which are not stored.',
  })
  @IsOptional()
  @IsBoolean()
  streaming?: boolean;

  @ApiPropertyOptional({
    enum: [...RUN_POLICIES],
    description: 'What happens while another turn runs. Default: what the agent says.',
  })
  @IsOptional()
  @IsIn(RUN_POLICIES)
  policy?: RunPolicy;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_QUIET_MS,
    description: 'How many milliseconds `debounce` waits for further messages. Default: what the agent says.',
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_QUIET_MS)
  quietMs?: number;

  @ApiPropertyOptional({
    type: 'string',
    minLength: 1,
    maxLength: 150,
    description:
      'Makes retries safe: a repeated request returns the events of the first one. Generated if it is left out.',
  })
  @IsOptional()
  @IsString()
  invocationId?: string;

  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Lets the agent try again if this `invocationId` failed. The message is not stored again.',
  })
  @IsOptional()
  @IsBoolean()
  retry?: boolean;

  @ApiPropertyOptional({ ...STATE, description: 'State changes that are stored with the message.' })
  @IsOptional()
  @IsObject()
  stateDelta?: Record<string, unknown>;
}

@ApiObject({ name: 'StopAgent', additionalProperties: false, example: { invocationId: 'inv-7' } })
export class StopBody {
  @ApiPropertyOptional({ type: 'string', description: 'The run to stop. Default: the one that runs.' })
  @IsOptional()
  @IsString()
  invocationId?: string;
}

@ApiObject({ name: 'Stopped', additionalProperties: false, example: { stopped: true } })
export class StoppedDto {
  @ApiProperty({
    type: 'boolean',
    description:
      'Whether there was a run to stop, also one that waits for approvals, or a waiting message to take back.',
  })
  readonly stopped!: boolean;
}

@ApiObject({ name: 'Answer', additionalProperties: false, example: { confirmed: true, payload: { amount: 5 } } })
export class AnswerBody {
  @ApiProperty({ type: 'boolean', description: 'Whether the user approves.' })
  @IsDefined()
  @IsBoolean()
  confirmed!: boolean;

  @ApiPropertyOptional({ description: 'What the approval asks for, if it asks for more than a yes.' })
  @Allow()
  payload?: unknown;
}

const APPROVAL = {
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  approvalId: 'c-1@inv-7',
  invocationId: 'inv-7',
  agentName: 'shop',
  tool: 'refund',
  hint: 'Refund order 7?',
  payload: { currency: 'EUR' },
  schema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  call: { id: 'c-1', name: 'refund', args: { order: '7' } },
  expiresAt: 1_790_000_000_000,
  messageSeq: 12,
};

@ApiObject({ name: 'AskedCall', additionalProperties: false, example: APPROVAL.call })
export class AskedCallDto implements AskedCall {
  @ApiPropertyOptional({ type: 'string' })
  readonly id?: string;

  @ApiProperty({ type: 'string' })
  readonly name!: string;

  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly args!: Readonly<Record<string, unknown>>;
}

@ApiObject({ name: 'PendingApproval', additionalProperties: false, example: APPROVAL })
export class PendingApprovalDto extends SessionKeyDto implements PendingApproval {
  @ApiProperty({ type: 'string', description: 'Name it in the path of the answer, encoded.' })
  readonly approvalId!: string;

  @ApiProperty({ type: 'string' })
  readonly invocationId!: string;

  @ApiProperty({ type: 'string' })
  readonly agentName!: string;

  @ApiPropertyOptional({ type: 'string', description: 'The tool that asks.' })
  readonly tool?: string;

  @ApiPropertyOptional({ type: 'string' })
  readonly hint?: string;

  @ApiPropertyOptional({ description: 'Details, as the request has them.' })
  readonly payload?: unknown;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The JSON Schema of the `payload` of an answer that confirms.',
  })
  readonly schema?: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({ type: () => AskedCallDto, description: 'The call to approve, if a tool asks.' })
  readonly call?: AskedCall;

  @ApiPropertyOptional({ type: 'integer', description: 'When it counts as refused, in epoch milliseconds.' })
  readonly expiresAt?: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'The message that began the invocation.' })
  readonly messageSeq!: number;
}

@ApiObject({ name: 'PendingApprovalPage', additionalProperties: false, example: { approvals: [APPROVAL] } })
export class PendingApprovalPageDto {
  @ApiProperty({ type: () => [PendingApprovalDto] })
  readonly approvals!: readonly PendingApproval[];

  @ApiPropertyOptional({ type: 'string', description: 'For the next page, which may exist even if this one is empty.' })
  readonly nextCursor?: string;
}

export class ListApprovalsQuery {
  @QueryNumber({ description: 'Sessions per page.', maximum: 1_000, default: 100 })
  limit?: string;

  @ApiPropertyOptional({ type: 'string', description: 'The `nextCursor` of the previous page.' })
  @IsOptional()
  @IsString()
  cursor?: string;
}
