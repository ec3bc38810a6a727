import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApiObject } from './api-object.js';
import { ID } from './session.dto.js';

@ApiObject({ name: 'AppPage', additionalProperties: false, example: { apps: ['shop'], limit: 100 } })
export class AppPageDto {
  @ApiProperty({ type: 'array', items: ID, description: 'The names of the apps, in the order of their bytes.' })
  readonly apps!: readonly string[];

  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly limit!: number;

  @ApiPropertyOptional({ type: 'string', description: 'For the next page. Missing on the last page.' })
  readonly nextCursor?: string;
}
