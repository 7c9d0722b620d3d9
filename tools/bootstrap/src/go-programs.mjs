import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { cache, repository, versions } from './paths.mjs'
import { step } from './progress.mjs'
import { findProgram, runCommand, withLock } from './run-command.mjs'

const [kubernetesMajor, kubernetesMinor] = versions.kubernetes.split('.')

const kubernetesVariables = {
  'k8s.io/component-base/version.gitVersion': `v${versions.kubernetes}`,
  'k8s.io/component-base/version.gitMajor': kubernetesMajor,
  'k8s.io/component-base/version.gitMinor': kubernetesMinor,
  'k8s.io/component-base/version.gitTreeState': 'clean',
}

/** The only one whose source is here: its version is a hash of that. */
const probe = {
  name: 'probe',
  version: hashOfSources('probe'),
  packages: ['kube-ovn-probe'],
  variables: {},
}

/** What the CNI project has: plugins that nodes get beside ours, and the program by which suites play a runtime. */
const cniPlugins = {
  name: 'cni-plugins',
  version: versions['cni-plugins'],
  packages: [
    'github.com/containernetworking/plugins/plugins/main/loopback',
    'github.com/containernetworking/plugins/plugins/meta/portmap',
    'github.com/containernetworking/cni/cnitool',
  ],
  variables: {
    'github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion': `v${versions['cni-plugins']}`,
  },
}

/** Those that images are made of: `dist/programs` has links to their programs. */
const forImages = [cniPlugins, probe]

/**
 * What is built from Go modules, because it exists neither in npm nor in Debian: a module below tools/kubernetes with
 * its pinned go.mod, the programs of it, the packages whose tests are programs, and the variables that hold their versions.
 */
const modules = [
  {
    name: 'kubernetes',
    version: versions.kubernetes,
    packages: [
      'kube-apiserver',
      'kube-controller-manager',
      'kube-scheduler',
      'kube-proxy',
      'kubelet',
      'kubectl',
    ].map((command) => `k8s.io/kubernetes/cmd/${command}`),
    variables: kubernetesVariables,
  },
  {
    name: 'helm',
    version: versions.helm,
    packages: ['helm.sh/helm/v3/cmd/helm'],
    variables: {
      'helm.sh/helm/v3/internal/version.version': `v${versions.helm}`,
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': kubernetesMajor,
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': kubernetesMinor,
    },
  },
  {
    name: 'coredns',
    version: versions.coredns,
    packages: ['github.com/coredns/coredns'],
    variables: {},
  },
  {
    name: 'multus',
    version: versions.multus,
    packages: ['gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus'],
    variables: {
      'gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/multus.version': `v${versions.multus}`,
    },
  },
  {
    name: 'gobgp',
    version: versions.gobgp,
    packages: ['gobgpd', 'gobgp'].map((command) => `github.com/osrg/gobgp/v4/cmd/${command}`),
    variables: {},
  },
  ...forImages,
]

/** Kubernetes' own suites, what they run in pods, and what runs several of them at once: they take longer to build than most of what is tested with them. */
const conformance = {
  name: 'conformance',
  version: versions.kubernetes,
  packages: ['k8s.io/kubernetes/test/images/agnhost', 'github.com/onsi/ginkgo/v2/ginkgo'],
  tests: ['k8s.io/kubernetes/test/e2e'],
  variables: kubernetesVariables,
}

/** The network policy API's own suites: the last one of AdminNetworkPolicies, and that of the version of ClusterNetworkPolicies that is served. */
const policySuites = ['admin-policies', 'cluster-policies'].map((name) => ({
  ...{ name, version: versions[name], packages: [], variables: {} },
  tests: ['sigs.k8s.io/network-policy-api/conformance'],
}))

/** What announces addresses of Services on the links of nodes, with the manifest by which it is installed. */
const metallb = {
  name: 'metallb',
  version: versions.metallb,
  packages: ['controller', 'speaker'].map((command) => `go.universe.tf/metallb/${command}`),
  files: { of: 'go.universe.tf/metallb', paths: ['config/manifests/metallb-native.yaml'] },
  variables: {},
}

/** What takes longer to build than most of what is tested with it. */
const deepModules = [conformance, ...policySuites, metallb]

/**
 * Builds the Kubernetes commands, Helm, CoreDNS, Multus, GoBGP and what images are made of into the cache, each module once for each version;
 * for deep runs Kubernetes' own suites, those of the network policy API, and MetalLB, too.
 */
export async function ensureGoPrograms() {
  await ensureModules(process.env.KUBE_OVN_DEEP === '1' ? [...modules, ...deepModules] : modules)
  linkPrograms()
}

/** Builds only what images are made of. */
export async function ensureImagePrograms() {
  await ensureModules(forImages)
  linkPrograms()
}

async function ensureModules(wanted) {
  for (const module of wanted) {
    if (isBuilt(module)) continue
    await step(`build ${module.name} ${module.version}`, (report) =>
      withLock(join(cache, `${module.name}.lock`), async () => {
        if (!isBuilt(module)) await build(module, report)
      }),
    )
  }
}

/** Puts the programs of this checkout beside the others that go into images; the cache has those of other checkouts, too. */
function linkPrograms() {
  for (const module of forImages)
    for (const path of module.packages)
      link(join(directoryOf(module), basename(path)), join(repository, 'dist/programs', basename(path)))
}

function link(program, place) {
  try {
    if (readlinkSync(place) === program) return
  } catch {
    // There is none yet.
  }
  mkdirSync(dirname(place), { recursive: true })
  const partial = `${place}.${process.pid}`
  symlinkSync(program, partial)
  renameSync(partial, place)
}

function hashOfSources(name) {
  const directory = join(repository, 'tools/kubernetes', name)
  const hash = createHash('sha256').update(versions.go)
  for (const file of readdirSync(directory).sort())
    hash.update(`${file}\n`).update(readFileSync(join(directory, file)))
  return hash.digest('hex').slice(0, 12)
}

function directoryOf(module) {
  return join(cache, module.name, `v${module.version}`, 'bin')
}

function isBuilt(module) {
  return filesOf(module).every((name) => existsSync(join(directoryOf(module), name)))
}

function filesOf({ packages, tests = [], files }) {
  return [...[...packages, ...(files?.paths ?? [])].map((path) => basename(path)), ...tests.map(testProgram)]
}

/** As `go test -c` names it. */
function testProgram(path) {
  return `${basename(path)}.test`
}

async function build(module, report) {
  const output = join(cache, module.name, `v${module.version}.partial`)
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  const source = join(repository, 'tools/kubernetes', module.name)
  const go = await goCommand(source, output)
  if (module === probe) await go.run(['vet', './...'])
  const { packages, tests = [] } = module
  const total = Number((await go.run(['list', '-deps', ...packages, ...tests])).trim().split('\n').length)
  const variables = Object.entries(module.variables).map(([name, value]) => `-X ${name}=${value}`)
  let compiled = 0
  const flags = ['-v', '-buildvcs=false', '-trimpath', '-ldflags', ['-s', '-w', ...variables].join(' ')]
  const onLine = () => report(`${++compiled}/${total} packages`)
  if (packages.length > 0) await go.run(['build', ...flags, '-o', `${go.output}/`, ...packages], onLine)
  // Without vet, which takes longer than the compiler for what is not ours.
  for (const path of tests)
    await go.run(
      ['test', '-c', '-vet=off', ...flags, '-o', `${go.output}/${testProgram(path)}`, path],
      onLine,
    )
  if (module.files !== undefined) {
    const { of, paths } = module.files
    const directory = go.pathOf((await go.run(['list', '-m', '-f', '{{.Dir}}', of])).trim())
    for (const path of paths) copyFileSync(join(directory, path), join(output, basename(path)))
  }
  const target = directoryOf(module)
  mkdirSync(dirname(target), { recursive: true })
  rmSync(target, { recursive: true, force: true })
  renameSync(output, target)
}

/** Go from the machine when it is new enough, else Debian's in a container, which fetches the pinned one itself. */
async function goCommand(source, output) {
  const program = await hostGo()
  const env = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' }
  if (program !== undefined)
    return {
      output,
      pathOf: (path) => path,
      run: (args, onLine) => runCommand(program, args, { cwd: source, env, onLine }),
    }
  await ensureGoImage()
  const goHome = join(cache, 'go')
  const proxies = [
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'GOPROXY',
  ]
  const passed = proxies.filter((name) => process.env[name] !== undefined)
  const options = [
    ...['run', '--rm', '--network', 'host', '-w', '/source'],
    ...['-v', `${source}:/source:ro`, '-v', `${output}:/output`, '-v', `${goHome}:/root`],
    ...['-v', '/etc/ssl/certs:/etc/ssl/certs:ro', '-e', 'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt'],
    ...['-e', `GOTOOLCHAIN=go${versions.go}`, ...passed.flatMap((name) => ['-e', name])],
    ...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
  ]
  return {
    output: '/output',
    pathOf: (path) => join(goHome, relative('/root', path)),
    run: (args, onLine) => runCommand('docker', [...options, goImage, 'go', ...args], { onLine }),
  }
}

async function hostGo() {
  const program = findProgram('go')
  if (program === undefined) return undefined
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(await runCommand(program, ['env', 'GOVERSION'])) ?? []
  const [wantedMajor, wantedMinor] = versions.go.split('.').map(Number)
  const isNewEnough =
    Number(major) > wantedMajor || (Number(major) === wantedMajor && Number(minor) >= wantedMinor)
  return isNewEnough ? program : undefined
}

const goImage = 'kube-ovn-build-go'

async function ensureGoImage() {
  const context = join(repository, 'tools/kubernetes/go-image')
  const images = await runCommand('docker', ['image', 'ls', '-q', goImage])
  if (images.trim() !== '') return
  await runCommand('docker', ['build', '-q', '--network', 'host', '-t', goImage, context])
}

/** Where the programs are, for the path of the command that follows. */
export function goProgramDirectories() {
  return modules.map(directoryOf)
}
