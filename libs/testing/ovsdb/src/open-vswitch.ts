import { Container } from './container.ts'
import { DatabaseServer } from './database-server.ts'

/** An Open_vSwitch database without ovs-vswitchd: whatever is written stays as it is. */
export interface OpenVswitchDatabase extends AsyncDisposable {
  /** `tcp:IP:PORT` */
  readonly address: string
  readonly server: DatabaseServer
  /** Runs `ovs-vsctl --no-wait` and answers what it prints, without the last line feed. */
  vsctl(...args: readonly string[]): Promise<string>
}

/** Starts an Open_vSwitch database, with its one Open_vSwitch row, in a container. */
export async function startOpenVswitch(): Promise<OpenVswitchDatabase> {
  await using stack = new AsyncDisposableStack()
  const container = stack.use(await Container.start())
  const server = await DatabaseServer.create(container, {
    database: 'Open_vSwitch',
    id: 'ovs',
    schemaPath: '/usr/share/openvswitch/vswitch.ovsschema',
    port: 6640,
  })
  async function vsctl(...args: readonly string[]): Promise<string> {
    const output = await container.run([
      'ovs-vsctl',
      '--no-wait',
      '--timeout=30',
      `--db=${server.socket}`,
      ...args,
    ])
    return output.replace(/\n$/, '')
  }
  await vsctl('init')
  const owned = stack.move()
  return { address: server.address, server, vsctl, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
