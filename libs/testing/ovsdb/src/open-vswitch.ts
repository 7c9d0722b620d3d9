import { Container } from './container.ts'
import { DatabaseServer } from './database-server.ts'

/** An Open_vSwitch database. Without ovs-vswitchd whatever is written stays as it is. */
export interface OpenVswitchDatabase extends AsyncDisposable {
  /** `tcp:IP:PORT` */
  readonly address: string
  readonly server: DatabaseServer
  /** Files of its machine as this one sees them. For root alone. */
  readonly root: string
  /** Runs `ovs-vsctl --no-wait` and answers what it prints, without the last line feed. */
  vsctl(...args: readonly string[]): Promise<string>
  /** Sends a command to ovs-vswitchd. */
  appctl(...args: readonly string[]): Promise<string>
  /** Runs a shell script beside the daemons. */
  script(text: string): Promise<string>
}

export interface OpenVswitchOptions {
  /** Runs ovs-vswitchd as well, for bridges of `datapath_type` dummy: they forward, and need nothing of the kernel. */
  readonly vswitchd?: boolean
}

/** Starts an Open_vSwitch database, with its one Open_vSwitch row, in a container. */
export async function startOpenVswitch({
  vswitchd = false,
}: OpenVswitchOptions = {}): Promise<OpenVswitchDatabase> {
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
  if (vswitchd) await container.script(startVswitchd(server.socket))
  const owned = stack.move()
  return {
    address: server.address,
    server,
    root: container.root,
    vsctl,
    appctl: (...args) => container.run(['ovs-appctl', '--timeout=30', ...args]),
    script: (text) => container.script(text),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** With the names of control sockets that a node has: they end in the process id. */
function startVswitchd(socket: string): string {
  const log = '/var/log/openvswitch'
  return `mkdir -p ${log}
ln -s ovs.ctl /run/ovn/ovs.$(cat /run/ovn/ovs.pid).ctl
ovs-vswitchd ${socket} --disable-system --enable-dummy --pidfile --detach --no-chdir --log-file=${log}/ovs-vswitchd.log 2>${log}/err || {
  cat ${log}/err >&2
  exit 1
}`
}
