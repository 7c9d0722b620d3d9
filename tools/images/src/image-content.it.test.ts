import { docker } from '@kube-ovn/testing-docker'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildPrograms } from './build-programs.ts'
import { ensureImage } from './container-image.ts'

/** What is asked of each image: size in bytes at most, and the programs that its scripts, tests and operators call. */
const images = {
  controller: { bytes: 200e6, programs: ['node', 'bash', 'sleep'] },
  cni: {
    bytes: 300e6,
    programs: [
      ...['node', 'nft', 'tcpdump', 'bash', 'cat', 'nsenter', 'tar', 'tail', 'dmesg'],
      ...['ip', 'ovs-vsctl', 'arping', 'ndisc6', '/kube-ovn/kube-ovn-pinger', '/kube-ovn/kube-ovn-speaker'],
    ],
  },
  ovn: {
    bytes: 250e6,
    programs: [
      ...['ovn-northd', 'ovn-controller', 'ovn-nbctl', 'ovn-sbctl', 'ovn-appctl', 'ovn-trace'],
      ...[
        'ovsdb-server',
        'ovs-vswitchd',
        'ovsdb-client',
        'ovsdb-tool',
        'ovs-vsctl',
        'ovs-appctl',
        'ovs-ofctl',
        'ovs-dpctl',
      ],
      ...['/usr/share/ovn/scripts/ovn-ctl', '/usr/share/openvswitch/scripts/ovs-ctl'],
      '/usr/share/openvswitch/scripts/ovs-save',
      ...[
        'bash',
        'tar',
        'awk',
        'sed',
        'flock',
        'openssl',
        'ip',
        'ethtool',
        'modprobe',
        'tcpdump',
        'gzip',
        'tail',
        'timeout',
        'uuidgen',
        'mount',
      ],
    ],
  },
} as const

const references = new Map<string, string>()

beforeAll(async () => {
  await buildPrograms()
  for (const name of Object.keys(images)) references.set(name, await ensureImage(name))
}, 300_000)

/** The lines that a script prints in a container of the image. */
async function lines(name: string, script: string, more: readonly string[] = []): Promise<readonly string[]> {
  const options = ['--rm', '--network', 'none', '--user', '0', ...more]
  const output = await docker('run', ...options, references.get(name) ?? '', 'bash', '-c', script)
  return output.split('\n').filter((line) => line !== '')
}

describe.each(Object.entries(images))('image %s', (name, { bytes, programs }) => {
  it(`has at most ${bytes / 1e6} MB`, async () => {
    const size = Number(await docker('image', 'inspect', '--format', '{{.Size}}', references.get(name) ?? ''))
    expect(size).toBeGreaterThan(bytes / 10)
    expect(size).toBeLessThanOrEqual(bytes)
  })

  it('has the programs that are called', async () => {
    const script = programs.map((program) => `command -v ${program} >/dev/null || echo ${program}`).join('\n')
    expect(await lines(name, script)).toEqual([])
  })

  it('has the libraries of all its programs, and the interpreters of all its scripts', async () => {
    const script = `
      find / -xdev -type f '(' -perm /111 -o -name '*.so*' ')' ! -path '/proc/*' | while IFS= read -r file; do
        IFS= LC_ALL=C read -r -N 4 magic 2>/dev/null <"$file"
        case $magic in
          $'\\x7fELF') ldd "$file" 2>&1 | grep -F 'not found' | sed "s|^|$file: |" ;;
          '#!'*)
            read -r program argument _ <<<"$(head -n 1 "$file" | cut -c 3-)"
            [[ $program == */env ]] && program=$argument
            command -v "$program" >/dev/null || echo "$file: $program" ;;
        esac
      done`
    expect(await lines(name, script)).toEqual([])
  })

  it('has no locales, manuals, packages and caches, and no documentation but licences', async () => {
    const script = `
      find /usr/share/locale /usr/share/man /usr/share/info /usr/lib/*/gconv /var/cache /var/lib/apt /usr/include \\
        /usr/local/lib/node_modules -type f 2>/dev/null
      find /usr/share/doc -type f ! -name copyright
      command -v npm apt-get dpkg perl python3`
    expect(await lines(name, `${script}; true`)).toEqual([])
  })
})

it('has the script by which the plugin of earlier installations looks at a node', async () => {
  const told = await lines('cni', 'bash /kube-ovn/env-check.sh')
  expect(told.flatMap((line) => /^\d\)/.exec(line) ?? [])).toEqual(['1)', '2)', '3)', '4)', '5)', '6)'])
})

it('answers scripts that look after a cluster of databases where one stands alone', async () => {
  const told = await lines(
    'ovn',
    `
      mkdir -p /run/ovn && cd /tmp
      ovsdb-tool create alone.db /usr/share/ovn/ovn-nb.ovsschema
      ovsdb-tool create-cluster one.db /usr/share/ovn/ovn-sb.ovsschema tcp:127.0.0.1:6644
      for name in alone one; do
        ovsdb-tool cluster-to-standalone $name.backup $name.db && ovsdb-tool db-is-standalone $name.backup && echo "$name: saved"
        ovsdb-tool cluster-to-standalone $name.backup $name.db 2>/dev/null || echo "$name: kept"
        ovsdb-server --detach --no-chdir --pidfile=/tmp/$name.pid --unixctl=/tmp/$name.ctl --log-file=/dev/null \
          --remote=punix:/tmp/$name.sock $name.db 2>/dev/null
      done
      ovn-appctl -t /tmp/alone.ctl cluster/status OVN_Northbound
      echo $?
      ovn-appctl -t /tmp/one.ctl cluster/status OVN_Southbound | grep ^Status
      ovn-appctl -t /tmp/none.ctl cluster/status OVN_Northbound 2>/dev/null
      echo $?`,
  )
  const saved = ['alone', 'one'].flatMap((name) => [`${name}: saved`, `${name}: kept`])
  const alone = [
    'Name: OVN_Northbound',
    'Status: standalone, no member of a cluster',
    'Role: leader',
    'Term: 0',
  ]
  expect(told).toEqual([
    ...[...saved, ...alone, 'Leader: self', '0'],
    ...['Status: cluster member', expect.stringMatching(/^[1-9]\d*$/)],
  ])
})

it('has the pinger by the name that scripts of 1.17 have for it, which ends well whatever it finds', async () => {
  const told = await lines('cni', '/kube-ovn/kube-ovn-pinger --help')
  expect(told.join('\n')).toContain('--target-ip-ports')
})

it('starts a speaker by the name that NAT gateways of 1.17 have for it', async () => {
  const told = await lines(
    'cni',
    'GATEWAY_NAME= /kube-ovn/kube-ovn-speaker --nat-gw-mode --cluster-as=1 2>&1; echo $?',
  )
  expect(told.join('\n')).toContain('missing required flags: --neighbor-as')
  expect(told.at(-1)).not.toBe('0')
})

it('has kubectl-ko for nodes, which what lies in the directory where a user is does not change', async () => {
  const script = `
    node /kube-ovn/cni-install.mjs install --cni-bin-dir=/plugins --cni-conf-dir=/net.d --tooling-dir=/tooling --host-cni-bin-dir=/plugins >&2
    mkdir /work && cd /work
    echo 'console.log("from the directory")' >other.ts
    echo 'preload = ["./other.ts"]' >bunfig.toml
    echo '{ "compilerOptions": { "paths": { "*": ["./other.ts"] } } }' >tsconfig.json
    echo 'KUBECONFIG=/of-the-directory' >.env
    PATH=$PATH:/tooling HOME=/work kubectl-ko --kubeconfig /of-the-user status 2>&1
    echo $?
    ls -A`
  const told = await lines('cni', script)
  expect(told).toEqual([
    expect.stringContaining('value=/of-the-user'),
    '1',
    ...['.env', 'bunfig.toml', 'other.ts', 'tsconfig.json'],
  ])
})

it('has one layer of Debian in all images, and one of Node in those that need it', async () => {
  const layers = await Promise.all(
    Object.keys(images).map(async (name) => {
      const format = '{{range .RootFS.Layers}}{{.}} {{end}}'
      const text = await docker('image', 'inspect', '--format', format, references.get(name) ?? '')
      return text.trim().split(' ')
    }),
  )
  const [controller = [], cni = [], ovn = []] = layers
  expect(new Set([controller[0], cni[0], ovn[0]]).size).toBe(1)
  expect(cni[1]).toBe(controller[1])
  expect(ovn[1]).not.toBe(controller[1])
})
