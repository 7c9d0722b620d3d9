import { describe, expect, it } from 'vitest'
import type { AgentAnswer } from './agent-client.ts'
import { runPlugin } from './run.ts'

const environment = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: '0123456789abcdef',
  CNI_NETNS: '/var/run/netns/cni-1',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=uid-1',
}

const configuration = {
  cniVersion: '1.1.0',
  name: 'kube-ovn',
  type: 'kube-ovn',
  server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
}

const attached = {
  ips: [{ protocol: 'IPv4', ip: '10.16.0.5', cidr: '10.16.0.5/16', gateway: '10.16.0.1' }],
  mac_address: '00:00:00:00:16:05',
  routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }],
  mtu: 1400,
  nicname: 'eth0',
}

interface Call {
  readonly socketPath: string
  readonly path: string
  readonly body: unknown
}

async function run(
  env: Readonly<Record<string, string | undefined>>,
  stdin: unknown,
  answer: AgentAnswer | Error = { status: 200, body: JSON.stringify(attached) },
): Promise<{ exitCode: number; output: unknown; calls: readonly Call[] }> {
  const calls: Call[] = []
  const outcome = await runPlugin(
    { ...environment, ...env },
    typeof stdin === 'string' ? stdin : JSON.stringify(stdin),
    async (socketPath, path, body) => {
      calls.push({ socketPath, path, body })
      if (answer instanceof Error) throw answer
      return answer
    },
    '1.17.0',
  )
  const output: unknown = outcome.stdout === '' ? outcome.stderr : JSON.parse(outcome.stdout)
  return { exitCode: outcome.exitCode, output, calls }
}

describe('ADD', () => {
  it('sends upstream’s body, key by key, and ours beside it', async () => {
    const { calls } = await run({}, configuration)
    expect(calls).toEqual([
      {
        socketPath: '/run/openvswitch/kube-ovn-daemon.sock',
        path: '/api/v1/add',
        body: {
          cni_type: 'kube-ovn',
          pod_name: 'web-0',
          pod_namespace: 'shop',
          container_id: '0123456789abcdef',
          net_ns: '/var/run/netns/cni-1',
          if_name: 'eth0',
          provider: 'ovn',
          routes: [],
          dns: {},
          vf_driver: '',
          deviceID: '',
          vhost_user_socket_volume_name: '',
          vhost_user_socket_name: '',
          vhost_user_socket_consumption: '',
          pod_uid: 'uid-1',
          network: 'kube-ovn',
        },
      },
    ])
  })

  it('prints the result of 1.1.0, with the MTU', async () => {
    expect(await run({}, configuration)).toMatchObject({
      exitCode: 0,
      output: {
        cniVersion: '1.1.0',
        interfaces: [{ name: 'eth0', mac: '00:00:00:00:16:05', mtu: 1400, sandbox: '/var/run/netns/cni-1' }],
        ips: [{ interface: 0, address: '10.16.0.5/16', gateway: '10.16.0.1' }],
        routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }],
        dns: {},
      },
    })
  })

  it('prints the family of an address up to 0.4.0, and no MTU before 1.1.0', async () => {
    const old = await run({}, { ...configuration, cniVersion: '0.3.1' })
    expect(old.output).toEqual({
      cniVersion: '0.3.1',
      interfaces: [{ name: 'eth0', mac: '00:00:00:00:16:05', sandbox: '/var/run/netns/cni-1' }],
      ips: [{ version: '4', interface: 0, address: '10.16.0.5/16', gateway: '10.16.0.1' }],
      routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }],
      dns: {},
    })
    const newer = await run({}, { ...configuration, cniVersion: '1.0.0' })
    expect(newer.output).toMatchObject({ cniVersion: '1.0.0', ips: [{ address: '10.16.0.5/16' }] })
    expect(JSON.stringify(newer.output)).not.toMatch(/version":"4|mtu/)
  })

  it('prints one address per family before 0.3.0', async () => {
    const old = await run({}, { ...configuration, cniVersion: '0.2.0' })
    expect(old.output).toEqual({
      cniVersion: '0.2.0',
      ip4: { ip: '10.16.0.5/16', gateway: '10.16.0.1', routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }] },
      dns: {},
    })
  })

  it('makes default routes of the gateways when the agent gives no routes', async () => {
    const body = JSON.stringify({
      ...attached,
      routes: [],
      ips: [...attached.ips, { protocol: 'IPv6', ip: 'fd00::5', cidr: 'fd00::/112', gateway: 'fd00::1' }],
    })
    expect((await run({}, configuration, { status: 200, body })).output).toMatchObject({
      routes: [
        { dst: '0.0.0.0/0', gw: '10.16.0.1' },
        { dst: '::/0', gw: 'fd00::1' },
      ],
    })
  })

  it('takes agent, provider and routes from ipam when another plugin delegates', async () => {
    const ipam = {
      type: 'kube-ovn',
      server_socket: '/other.sock',
      provider: 'macvlan.default',
      routes: [{ dst: '10.0.0.0/8' }],
    }
    const { calls } = await run({}, { ...configuration, type: 'macvlan', ipam })
    expect(calls[0]).toMatchObject({
      socketPath: '/other.sock',
      body: { cni_type: 'macvlan', provider: 'macvlan.default', routes: [{ dst: '10.0.0.0/8', gw: '' }] },
    })
  })
})

describe('other verbs', () => {
  it.each([
    ['DEL', '/api/v1/del'],
    ['CHECK', '/api/v1/check'],
    ['STATUS', '/api/v1/status'],
    ['GC', '/api/v1/gc'],
  ])('%s asks %s and prints nothing', async (verb, path) => {
    const result = await run({ CNI_COMMAND: verb }, configuration, { status: 204, body: '' })
    expect([result.exitCode, result.output, result.calls[0]?.path]).toEqual([0, '', path])
  })

  it('DEL asks the agent where it usually is when Multus has dropped where that is', async () => {
    const { server_socket: socketPath, ...damaged } = configuration
    const result = await run({ CNI_COMMAND: 'DEL' }, { ...damaged, ipam: {} }, { status: 204, body: '' })
    expect(result).toMatchObject({ exitCode: 0, calls: [{ socketPath, path: '/api/v1/del' }] })
  })

  it.each(['', 'K8S_POD_NAMESPACE=a'])('DEL works with the arguments "%s"', async (args) => {
    const result = await run({ CNI_COMMAND: 'DEL', CNI_ARGS: args }, configuration, { status: 204, body: '' })
    expect(result).toMatchObject({
      exitCode: 0,
      calls: [{ body: { container_id: '0123456789abcdef', if_name: 'eth0', pod_name: '' } }],
    })
  })

  it('DEL works without a namespace', async () => {
    const result = await run({ CNI_COMMAND: 'DEL', CNI_NETNS: '' }, configuration, { status: 204, body: '' })
    expect([result.exitCode, result.calls.length]).toEqual([0, 1])
  })

  it('GC names the attachments that are valid', async () => {
    const stdin = { ...configuration, 'cni.dev/valid-attachments': [{ containerID: 'a', ifname: 'eth0' }] }
    const { calls } = await run({ CNI_COMMAND: 'GC' }, stdin, { status: 204, body: '' })
    expect(calls[0]?.body).toEqual({
      network: 'kube-ovn',
      valid_attachments: [{ container_id: 'a', if_name: 'eth0' }],
    })
  })

  it('VERSION names every released version and asks nobody', async () => {
    const result = await run({ CNI_COMMAND: 'VERSION' }, '')
    expect(result).toEqual({
      exitCode: 0,
      output: {
        cniVersion: '1.1.0',
        supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
      },
      calls: [],
    })
  })

  it('says what it is when started by hand', async () => {
    const result = await run({ CNI_COMMAND: undefined }, '')
    expect(result.exitCode).toBe(0)
    expect(result.output).toContain('CNI kube-ovn plugin 1.17.0')
  })
})

describe('a failure', () => {
  const { server_socket: _, ...noSocket } = configuration
  it.each([
    ['of unreadable input is 6', {}, 'nonsense', 6, 'failed to load netconf'],
    [
      'of a version nobody knows is 1',
      {},
      { ...configuration, cniVersion: '9.0.0' },
      1,
      'incompatible CNI versions',
    ],
    ['of a missing socket is 7', {}, noSocket, 7, 'server_socket is required in cni.conf'],
    ['of missing arguments is 7', { CNI_ARGS: '' }, configuration, 7, 'CNI_ARGS is required'],
    [
      'of a missing pod is 7',
      { CNI_ARGS: 'K8S_POD_NAMESPACE=a' },
      configuration,
      7,
      'K8S_POD_NAME is required in CNI_ARGS',
    ],
    [
      'of a missing variable is 4',
      { CNI_IFNAME: '' },
      configuration,
      4,
      'required env variables [CNI_IFNAME] missing',
    ],
    ['of an unknown verb is 4', { CNI_COMMAND: 'MOVE' }, configuration, 4, 'unknown CNI_COMMAND: MOVE'],
    [
      'of a bad container id is 4',
      { CNI_CONTAINERID: '../x' },
      configuration,
      4,
      'invalid characters in containerID',
    ],
    ['of a bad interface name is 4', { CNI_IFNAME: 'a/b' }, configuration, 4, 'invalid interface name'],
    [
      'of CHECK before 0.4.0 is 1',
      { CNI_COMMAND: 'CHECK' },
      { ...configuration, cniVersion: '0.3.1' },
      1,
      'config version does not allow CHECK',
    ],
    [
      'of STATUS before 1.1.0 is 1',
      { CNI_COMMAND: 'STATUS' },
      { ...configuration, cniVersion: '1.0.0' },
      1,
      'config version does not allow STATUS',
    ],
  ] as const)('%s', async (_name, env, stdin, code, msg) => {
    const result = await run(env, stdin)
    expect(result).toMatchObject({ exitCode: 1, output: { code, msg }, calls: [] })
  })

  it('of the agent is "try again later", with its words', async () => {
    const answer = { status: 500, body: JSON.stringify({ error: 'no address yet' }) }
    expect(await run({}, configuration, answer)).toMatchObject({
      exitCode: 1,
      output: {
        cniVersion: '1.1.0',
        code: 11,
        msg: 'RPC failed',
        details: 'request ip return 500 no address yet',
      },
    })
  })

  it('of the agent may bring a code of its own', async () => {
    const answer = { status: 503, body: JSON.stringify({ error: 'OVS is down', code: 51 }) }
    expect((await run({ CNI_COMMAND: 'STATUS' }, configuration, answer)).output).toMatchObject({ code: 51 })
  })

  it('to reach the agent is 11, and 50 for STATUS', async () => {
    const refused = new Error('connect ECONNREFUSED')
    expect((await run({}, configuration, refused)).output).toMatchObject({ code: 11 })
    expect((await run({ CNI_COMMAND: 'STATUS' }, configuration, refused)).output).toMatchObject({ code: 50 })
  })
})
