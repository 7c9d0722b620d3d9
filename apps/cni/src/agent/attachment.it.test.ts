import { pods } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { pod } from '@kube-ovn/testing-builders'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentNode, inNamespace, macOf } from '../testing/agent-node.ts'
import { containerId, pluginCommand } from '../testing/node-container.ts'

let agent: AgentNode

beforeAll(async () => {
  agent = await AgentNode.start()
})
afterAll(() => agent?.[Symbol.asyncDispose]())

describe('a pod', () => {
  // Each test works with these two, and leaves them as they are, or with pods of its own.
  beforeAll(async () => {
    await agent.attachPod('web-1', 5)
    await agent.attachPod('web-2', 6)
    await agent.serveTcp('web-2', '10.16.0.6', 80)
    await agent.serveTcp('web-2', 'fd00:10:16::6', 80)
  })
  afterAll(async () => {
    for (const name of ['web-1', 'web-2']) await agent.detachPod(name)
  })

  it('is attached: it reaches another pod, the gateway, the node and, masqueraded, the world', async () => {
    const [added] = await Promise.all([agent.machine.plugin('ADD', 'web-7'), agent.createPod('web-7', 7)])
    expect(added).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(added.stdout)).toEqual({
      cniVersion: '1.1.0',
      interfaces: [{ name: 'eth0', mac: '00:00:00:00:16:07', mtu: 1400, sandbox: '/run/netns/web-7' }],
      ips: [
        { interface: 0, address: '10.16.0.7/16', gateway: '10.16.0.1' },
        { interface: 0, address: 'fd00:10:16::7/112', gateway: 'fd00:10:16::1' },
      ],
      routes: [
        { dst: '0.0.0.0/0', gw: '10.16.0.1' },
        { dst: '::/0', gw: 'fd00:10:16::1' },
      ],
      dns: {},
    })
    for (const target of [
      '10.16.0.6',
      'fd00:10:16::6',
      '10.16.0.1',
      'fd00:10:16::1',
      agent.machine.address,
      agent.api.address,
    ]) {
      expect([target, await agent.ping('web-7', target)]).toEqual([target, true])
    }
    expect((await agent.machine.try(['ping', '-c', '1', '-W', '2', '10.16.0.7'])).exitCode).toBe(0)
    const line = await agent.machine.logged('attachment added', { pod: 'default/web-7' })
    expect(line).toMatchObject({
      agentMs: expect.any(Number),
      controllerWaitMs: expect.any(Number),
      ovnWaitMs: expect.any(Number),
    })
    await agent.detachPod('web-7')
  })

  it("has no IPv6 at the host's end: ovs-vswitchd would read four routes more with each change of a link", async () => {
    const hostEnds = await agent.machine.script("ip -o link | grep -o '[0-9a-f]*_h'")
    expect(hostEnds.split('\n').length).toBeGreaterThanOrEqual(2)
    expect(await agent.machine.script('ip -6 route show table all | grep _h || true')).toBe('')
  })

  it('takes TCP from a pod and from the node, by both families', async () => {
    expect(await agent.tcp(inNamespace('web-1'), '10.16.0.6', 80)).toBe('10.16.0.5')
    expect(await agent.tcp(inNamespace('web-1'), 'fd00:10:16::6', 80)).toBe('fd00:10:16::5')
    expect(await agent.tcp([], '10.16.0.6', 80)).toBe(agent.machine.address)
  })

  it('reaches another pod by a Service that kube-proxy translates on the node, which masquerades', async () => {
    // What kube-proxy does in nftables mode, in short: DNAT at dstnat, masquerading of what is marked at srcnat.
    await agent.machine.script(
      "nft 'table ip kube-proxy; flush table ip kube-proxy; table ip kube-proxy { chain nat-prerouting { type nat hook prerouting priority dstnat; " +
        "ip daddr 10.96.0.10 tcp dport 80 dnat to 10.16.0.6:80; }; }'",
    )
    expect(await agent.tcp(inNamespace('web-1'), '10.96.0.10', 80)).toBe('100.64.0.2')
  })

  it('passes CHECK, and fails it once its address is gone', async () => {
    expect(await agent.machine.plugin('CHECK', 'web-1')).toMatchObject({ exitCode: 0 })
    await agent.machine.script('ip -n web-1 addr del 10.16.0.5/16 dev eth0')
    const failed = await agent.machine.plugin('CHECK', 'web-1')
    expect(failed.exitCode).toBe(1)
    expect(JSON.parse(failed.stdout)).toMatchObject({ code: 100 })
    await agent.machine.script(
      'ip -n web-1 addr add 10.16.0.5/16 dev eth0; ip -n web-1 route add default via 10.16.0.1',
    )
    expect(await agent.machine.plugin('CHECK', 'web-1')).toMatchObject({ exitCode: 0 })
  })

  it.each([
    { security: 'without port security', index: 14, successor: 15 },
    { security: 'with port security', index: 16, successor: 17 },
  ])(
    'that has the addresses of another one is found by neighbours at once, $security',
    async ({ security, index, successor }) => {
      const name = `web-${index}`
      const addresses = [`10.16.0.${index}`, `fd00:10:16::${index}`]
      const mac = macOf(successor)
      await agent.attachPod(name, index)
      for (const address of addresses)
        expect([address, await agent.ping('web-1', address)]).toEqual([address, true])
      await agent.remember('web-1', addresses, macOf(index))
      await agent.detachPod(name)
      await agent.createPod(name, index, mac)
      const allowed = security === 'with port security' ? `"${mac} ${addresses.join(' ')}"` : ''
      await agent.machine.script(`ovn-nbctl lsp-set-port-security ${name}.default ${allowed}`)
      expect(await agent.machine.plugin('ADD', name)).toMatchObject({ exitCode: 0 })
      await agent.untilKnown('web-1', addresses, mac)
      const learned = await agent.machine.script('ovn-sbctl --bare --columns=ip list MAC_Binding')
      for (const address of addresses) expect(learned.split('\n')).not.toContain(address)
      for (const address of addresses)
        expect([address, await agent.ping('web-1', address)]).toEqual([address, true])
      await agent.detachPod(name)
    },
  )

  it('is attached anew when ADD is repeated', async () => {
    expect(await agent.machine.plugin('ADD', 'web-1')).toMatchObject({ exitCode: 0 })
    expect(await agent.ping('web-1', '10.16.0.6')).toBe(true)
  })

  it('has one event and one row more for each ADD', async () => {
    await agent.untilEventsAreSent()
    await agent.api.forgetWrites()
    await agent.attachPod('web-3', 8)
    await expect.poll(() => agent.api.writes()).toHaveLength(1)
    expect((await agent.api.writes())[0]).toMatchObject({ verb: 'create', resource: 'events' })
    const ids = await agent.machine.script(
      'ovs-vsctl --bare --columns=external_ids find Interface external_ids:iface-id=web-3.default',
    )
    expect(ids).toContain('ip=10.16.0.8,fd00:10:16::8')
    expect(ids).toContain('vendor=kube-ovn')
    await agent.detachPod('web-3')
  })

  it('starts no process, neither for ADD nor for DEL', async () => {
    await agent.createPod('web-5', 9)
    // The last process id that the container gave out tells whether anything in it forked meanwhile.
    const program = `
      const http = require('http'), fs = require('fs')
      const ask = (path) => new Promise((resolve, reject) => http
        .request({ socketPath: '/run/openvswitch/kube-ovn-daemon.sock', path, method: 'POST' }, (answer) =>
          answer.resume().on('end', () => resolve(answer.statusCode)))
        .on('error', reject)
        .end(JSON.stringify({ pod_name: 'web-5', pod_namespace: 'default', container_id: 'abcabcabcabc',
          net_ns: '/run/netns/web-5', if_name: 'eth0', provider: 'ovn' })))
      const lastPid = () => Number(fs.readFileSync('/proc/sys/kernel/ns_last_pid', 'utf8'))
      // The first round starts the threads that the programs go on working with.
      ask('/api/v1/add').then(() => ask('/api/v1/del')).then(async () => {
        const before = lastPid()
        const statuses = [await ask('/api/v1/add'), await ask('/api/v1/del')]
        console.log(JSON.stringify({ statuses, forks: lastPid() - before }))
      })`
    const { stdout } = await agent.machine.try(['/opt/node/node', '-e', program])
    expect(JSON.parse(stdout)).toEqual({ statuses: [200, 204], forks: 0 })
    await agent.deletePod('web-5')
  })

  it('loses no packet while the agent is killed and started again, which writes nothing', async () => {
    await agent.untilEventsAreSent()
    await agent.api.forgetWrites()
    const pinging = await agent.startPing('web-1', '10.16.0.6')
    await agent.machine.stopAgent('KILL')
    // As an earlier version left it.
    await agent.machine.script('for end in /proc/sys/net/ipv6/conf/*_h; do echo 0 >$end/disable_ipv6; done')
    await agent.startAgent()
    const answered = await pinging.stop()
    expect(answered.length).toBeGreaterThan(0)
    expect(answered).toEqual(answered.map((_sequence, index) => index + 1))
    expect(await agent.api.writes()).toEqual([])
    const changes = agent.machine.agentLog.filter(
      (line) => line['level'] === 'info' && String(line['msg']).match(/written|configured|removed/),
    )
    expect(changes).toEqual([])
    expect(await agent.machine.script('cat /proc/sys/net/ipv6/conf/*_h/disable_ipv6 | sort -u')).toBe('1')
  })

  it('reaches the world by the address of the node only while natOutgoing is on', async () => {
    const ref = { name: 'ovn-default' }
    await agent.api.client.patch(subnetResource, ref, 'application/merge-patch+json', {
      spec: { natOutgoing: false },
    })
    await expect.poll(() => agent.ping('web-1', agent.api.address)).toBe(false)
    await agent.api.client.patch(subnetResource, ref, 'application/merge-patch+json', {
      spec: { natOutgoing: true },
    })
    await expect.poll(() => agent.ping('web-1', agent.api.address)).toBe(true)
  })

  it('works again after vswitchd was killed and started', async () => {
    await agent.machine.replaceVswitchd()
    await expect.poll(() => agent.ping('web-1', '10.16.0.6')).toBe(true)
    await expect
      .poll(async () => (await agent.machine.try(['ping', '-c', '1', '-W', '1', '10.16.0.5'])).exitCode)
      .toBe(0)
    expect(await agent.machine.script('ethtool -k ovn0 | grep tx-checksumming')).toContain('off')
  })

  it('is detached by DEL, also when its namespace is gone, and a second DEL is fine', async () => {
    await agent.attachPod('web-6', 10)
    await agent.machine.script('ip netns delete web-6')
    expect(await agent.machine.plugin('DEL', 'web-6', {}, { CNI_NETNS: '' })).toMatchObject({
      exitCode: 0,
      stdout: '',
    })
    expect(await agent.machine.plugin('DEL', 'web-6', {}, { CNI_NETNS: '' })).toMatchObject({ exitCode: 0 })
    expect(await agent.portsOf('web-6')).toBe('')
    await agent.deletePod('web-6')
  })

  it('is taken back whole when the controller never allocates and the runtime gives up', async () => {
    await agent.machine.script('ip netns add late')
    await agent.api.client.create(pods, pod({ name: 'late', node: 'node1' }))
    const { exitCode } = await agent.machine.try(['timeout', '2', ...pluginCommand], {
      input: JSON.stringify({
        cniVersion: '1.1.0',
        name: 'kube-ovn',
        type: 'kube-ovn',
        server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
      }),
      env: {
        CNI_COMMAND: 'ADD',
        CNI_CONTAINERID: 'fedcba9876543210',
        CNI_NETNS: '/run/netns/late',
        CNI_IFNAME: 'eth0',
        CNI_PATH: '/x',
        CNI_ARGS: 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=late',
      },
    })
    expect(exitCode).toBe(124)
    expect(await agent.machine.script('ip -n late -o link | grep -c eth0 || true')).toBe('0')
    await agent.deletePod('late')
  })

  it('is removed by GC when the runtime does not know it any more', async () => {
    await agent.attachPod('web-8', 11)
    const known = ['web-1', 'web-2'].map((name) => ({ containerID: containerId(name), ifname: 'eth0' }))
    const valid = { 'cni.dev/valid-attachments': known }
    expect(await agent.machine.plugin('GC', '', { ...valid, name: 'other' })).toMatchObject({ exitCode: 0 })
    expect(await agent.portsOf('web-8')).not.toBe('')
    expect(await agent.machine.plugin('GC', '', valid)).toMatchObject({ exitCode: 0 })
    expect(await agent.portsOf('web-8')).toBe('')
    expect(await agent.portsOf('web-1')).not.toBe('')
    await agent.deletePod('web-8')
  })
})

describe('a runtime that speaks CNI 1.1', () => {
  const asPod = (name: string): Record<string, string> => ({
    CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`,
  })
  const hostPort = {
    CAP_ARGS: JSON.stringify({ portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] }),
  }

  beforeAll(async () => {
    await agent.machine.install('--cni-versions=1.1.0')
    await agent.createPod('web-9', 13)
  })
  afterAll(() => agent.deletePod('web-9'))
  beforeEach(addByList)
  afterEach(() => agent.machine.cnitool('del', 'web-9', hostPort))

  it('has pods checked by every plugin of the list', async () => {
    const options = { ...asPod('web-9'), ...hostPort }
    expect(await agent.machine.cnitool('check', 'web-9', options)).toMatchObject({ exitCode: 0 })
    expect(await portMappings()).toContain('10.16.0.13:80')
    await agent.machine.script('nft flush ruleset')
    expect(await agent.machine.cnitool('check', 'web-9', options)).toMatchObject({ exitCode: 1 })
  })

  it('is told whether the network is ready', async () => {
    expect(await agent.machine.cnitool('status', 'web-9')).toMatchObject({ exitCode: 0, stderr: '' })
    await agent.machine.stopAgent()
    try {
      const { exitCode, stderr } = await agent.machine.cnitool('status', 'web-9')
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the node agent does not answer')])
    } finally {
      await agent.startAgent()
    }
  })

  it('has what it does not know any more collected', async () => {
    // Or else libcni would remove what it remembers by DEL.
    await agent.machine.script('rm -r /var/lib/cni/results')
    expect(await agent.machine.cnitool('gc', 'web-9')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await agent.portsOf('web-9')).toBe('')
  })

  it('removes a pod without saying which one it is', async () => {
    expect(await agent.machine.cnitool('del', 'web-9', hostPort)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await agent.portsOf('web-9')).toBe('')
    expect(await portMappings()).not.toContain('10.16.0.13')
    await expect.poll(() => agent.eventReasons('web-9')).toContain('PodNetworkRemoved')
  })

  it('finds what an operator wrote into the list after the agent was started again', async () => {
    const path = '/etc/cni/net.d/01-kube-ovn.conflist'
    await agent.machine.install('--cni-versions=1.0.0')
    await agent.machine.script(`sed -i 's/"cniVersion": "1.0.0"/"cniVersion": "1.1.0"/' ${path}`)
    await agent.machine.install()
    expect(await agent.machine.cnitool('status', 'web-9')).toMatchObject({ exitCode: 0 })
    expect(await agent.machine.script(`cat ${path}`)).toContain('"cniVersion": "1.1.0"')
  })

  async function addByList(): Promise<void> {
    const added = await agent.machine.cnitool('add', 'web-9', { ...asPod('web-9'), ...hostPort })
    expect(added).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(added.stdout)).toMatchObject({ cniVersion: '1.1.0', interfaces: [{ mtu: 1400 }] })
  }

  async function portMappings(): Promise<string> {
    return agent.machine.script('nft list ruleset')
  }
})

it('lacks no right that the chart should give', async () => {
  expect(await agent.api.missingRights()).toEqual([])
})
