import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { SessionRow } from './session.entity.js';

/** One key of a session's own state. */
@Entity('agent_session_state')
export class SessionStateRow {
  @PrimaryColumn('integer', { name: 'session_pk' })
  sessionPk!: number;

  @PrimaryColumn('text')
  name!: string;

  /** As JSON text. */
  @Column('text')
  value!: string;

  @ManyToOne(() => SessionRow, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'session_pk', foreignKeyConstraintName: 'agent_session_state_session' })
  session!: Relation<SessionRow>;
}
