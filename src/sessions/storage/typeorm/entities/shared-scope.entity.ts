import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** The shared state of a user in an app, or, with an empty user id, of the whole app. */
@Entity('agent_shared_scopes')
@Index('agent_shared_scopes_key', ['appName', 'userId'], { unique: true })
@Index('agent_shared_scopes_by_expiry', ['expiresAt'])
export class SharedScopeRow {
  @PrimaryGeneratedColumn()
  pk!: number;

  @Column('text', { name: 'app_name' })
  appName!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('integer', { name: 'expires_at' })
  expiresAt!: number;
}
