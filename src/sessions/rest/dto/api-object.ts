import { ApiSchema } from '@nestjs/swagger';

interface ObjectDescription {
  /** The name in the OpenAPI document, for generated clients. */
  readonly name: string;
  readonly description?: string;
  readonly example?: unknown;
  /** Whether objects may have other fields. */
  readonly additionalProperties: boolean;
}

/** Describes a DTO class as a whole; `ApiProperty` describes its fields. */
export const ApiObject = (description: ObjectDescription): ClassDecorator => ApiSchema(description);
