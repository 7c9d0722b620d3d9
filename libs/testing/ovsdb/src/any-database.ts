import { Container } from './container.ts'
import { DatabaseServer } from './database-server.ts'

/** A database of any schema, with the commands of Open vSwitch and OVN beside it. */
export interface AnyDatabase extends AsyncDisposable {
  readonly server: DatabaseServer
  /** Runs a command beside the server, e.g. `ovsdb-client dump SOCKET`, and answers its standard output. */
  run(...command: readonly [string, ...string[]]): Promise<string>
}

/** Starts an empty database in a container. */
export async function startDatabase(schema: { readonly name: string }): Promise<AnyDatabase> {
  await using stack = new AsyncDisposableStack()
  const container = stack.use(await Container.start())
  const schemaPath = '/run/ovn/test.ovsschema'
  await container.run(['tee', schemaPath], JSON.stringify(schema))
  const server = await DatabaseServer.create(container, {
    database: schema.name,
    id: 'test',
    schemaPath,
    port: 6640,
  })
  const owned = stack.move()
  return {
    server,
    run: (...command) => container.run(command),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
