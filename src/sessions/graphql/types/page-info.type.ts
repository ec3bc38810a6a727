import { Field, ObjectType } from '@nestjs/graphql';

@ObjectType('PageInfo')
export class PageInfoObject {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => String, { nullable: true, description: 'To be handed over as `after`; null on the last page.' })
  endCursor?: string | undefined;
}

/** Where a page ends, as the service says it. */
export function pageInfoOf(nextCursor: string | undefined): PageInfoObject {
  return { hasNextPage: nextCursor !== undefined, endCursor: nextCursor };
}
