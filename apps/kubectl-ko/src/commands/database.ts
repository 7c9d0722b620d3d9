import type { Command } from 'commander'
import { databases, type Database } from '../databases.ts'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutcomeOption, withOutputOptions } from '../options.ts'

/** Adds `nb` and `sb`: the state of the databases of OVN, and what may be done to them. */
export function addDatabases(program: Command, context: Context): void {
  for (const database of Object.values(databases)) addDatabase(program, context, database)
}

function addDatabase(program: Command, context: Context, database: Database): void {
  const { kind, schema } = database
  const group = withExamples(program.command(kind).description(`look after the database ${schema}`), [
    `kubectl ko ${kind} status`,
    `kubectl ko ${kind} backup`,
  ])

  const status = withOutputOptions(
    withClusterOptions(group.command('status').description('what its leader says of the cluster')),
  )
  withExamples(status, [`kubectl ko ${kind} status`, `kubectl ko ${kind} status -o json`]).action(
    async () => {
      const { showStatus } = await import('../actions/database.ts')
      await showStatus(context, status, database)
    },
  )

  const kick = withOutcomeOption(
    withClusterOptions(
      group
        .command('kick')
        .description('take a member out of the cluster')
        .argument('<server>', 'its identifier, whole or abbreviated, as status shows it'),
    ),
  )
  withExamples(kick, [`kubectl ko ${kind} kick a1b2`]).action(async (server: string) => {
    const { kickMember } = await import('../actions/database.ts')
    await kickMember(context, kick, database, server)
  })

  const backup = withOutcomeOption(
    withClusterOptions(
      group
        .command('backup')
        .description('copy the database to a file; it goes on serving')
        .argument('[file]', 'default: a name with the present time, in the working directory'),
    ),
  )
  withExamples(backup, [`kubectl ko ${kind} backup`, `kubectl ko ${kind} backup /backups/${kind}.db`]).action(
    async (file: string | undefined) => {
      const { backUp } = await import('../actions/database.ts')
      await backUp(context, backup, database, file)
    },
  )

  const dbstatus = withOutputOptions(
    withClusterOptions(group.command('dbstatus').description('what each member says of its storage')),
  )
  withExamples(dbstatus, [`kubectl ko ${kind} dbstatus`, `kubectl ko ${kind} dbstatus -o json`]).action(
    async () => {
      const { showStorage } = await import('../actions/database.ts')
      await showStorage(context, dbstatus)
    },
  )

  if (kind === 'nb') addRestore(group, context, database)
}

function addRestore(group: Command, context: Context, database: Database): void {
  const restore = withOutcomeOption(
    withClusterOptions(
      group
        .command('restore')
        .description(
          'put the content of a backup in place of what the database has, in one transaction; the controller then corrects what has changed since',
        )
        .argument('<file>', 'as `backup` wrote it')
        .requiredOption('--yes', 'say that the present content may go'),
    ),
  )
  withExamples(restore, ['kubectl ko nb restore ovnnb_db.112502011700000000.backup --yes']).action(
    async (file: string) => {
      const { restoreContent } = await import('../actions/database.ts')
      await restoreContent(context, restore, database, file)
    },
  )
}
