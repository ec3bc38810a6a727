import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { SharedScopeRow } from './shared-scope.entity.js';

/** One key of shared state. */
@Entity('agent_shared_state')
export class SharedStateRow {
  @PrimaryColumn('integer', { name: 'scope_pk' })
  scopePk!: number;

  @PrimaryColumn('text')
  name!: string;

  /** As JSON text. */
  @Column('text')
  value!: string;

  @ManyToOne(() => SharedScopeRow, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'scope_pk', foreignKeyConstraintName: 'agent_shared_state_scope' })
  scope!: Relation<SharedScopeRow>;
}
