import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { ContextEntry } from './content.ts'
import { imageSources, programsDirectory } from './paths.ts'
import { commandBundle, plugin, type BundleName } from './programs.ts'

/** An image and what it is made of. */
export interface ImageSource {
  readonly name: string
  readonly context: readonly ContextEntry[]
  /** The image that it is built on, by name in the list; its reference becomes the build argument BASE. */
  readonly on?: string
  /** Not for users: others are built on it. */
  readonly isInternal?: true
  /** Not of the product: suites try a network with it. */
  readonly isForTests?: true
}

/** What installs packages of Debian in the stage of a build; beside the Dockerfile, and not in the image. */
const debianPackages: ContextEntry = {
  from: join(imageSources, 'debian/packages.sh'),
  to: 'stage/packages.sh',
}

/** The product's images, each after the one that it is built on. */
export function imageList(): readonly ImageSource[] {
  return [
    { name: 'debian', isInternal: true, context: [dockerfile('debian'), debianPackages] },
    {
      name: 'ovn',
      on: 'debian',
      context: [{ from: join(imageSources, 'ovn'), to: '.' }, debianPackages],
    },
    {
      name: 'node-runtime',
      on: 'debian',
      isInternal: true,
      context: [
        dockerfile('node-runtime'),
        debianPackages,
        // The very Node that builds: it is the pinned one, of the machine's own architecture.
        { from: process.execPath, to: 'node', identity: `${process.version} ${process.arch}` },
      ],
    },
    {
      name: 'controller',
      on: 'node-runtime',
      context: [
        dockerfile('controller'),
        ...bundle('controller.mjs'),
        ...bundle('ask-plan.mjs'),
        ...bundle('monitor.mjs'),
        ...bundle('remove-finalizers.mjs'),
      ],
    },
    {
      name: 'cni',
      on: 'node-runtime',
      context: [
        dockerfile('cni'),
        ...['env-check.sh', 'kube-ovn-pinger', 'kube-ovn-speaker'].map((script) => ({
          from: join(imageSources, 'cni', script),
          to: script,
        })),
        debianPackages,
        // tools/bootstrap builds those of the CNI project, and links them there.
        ...[plugin.name, 'portmap', 'loopback'].map((name) => ({
          from: join(programsDirectory, name),
          to: join('plugin', name),
        })),
        ...nativeKoffi(),
        ...bundle('cni-agent.mjs'),
        ...bundle('cni-install.mjs'),
        ...bundle('cni-forwarder.mjs'),
        // For nodes where the chart puts it.
        { from: commandBundle, to: 'kube-ovn/kubectl-ko.mjs' },
        ...bundle('pinger.mjs'),
        ...bundle('speaker.mjs'),
      ],
    },
    {
      name: 'probe',
      isForTests: true,
      // tools/bootstrap builds it, and links it there.
      context: [
        dockerfile('probe'),
        { from: join(programsDirectory, 'kube-ovn-probe'), to: 'kube-ovn-probe' },
      ],
    },
  ]
}

function dockerfile(image: string): ContextEntry {
  return { from: join(imageSources, image, 'Dockerfile'), to: 'Dockerfile' }
}

function bundle(name: BundleName): readonly ContextEntry[] {
  return [name, `${name}.map`].map((file) => ({
    from: join(programsDirectory, file),
    to: join('kube-ovn', file),
  }))
}

/** koffi's JavaScript and its native part for this machine's architecture, without sources and documentation. */
function nativeKoffi(): readonly ContextEntry[] {
  const fromNetlink = createRequire(join(imageSources, '../../../libs/io/netlink/package.json'))
  const koffi = dirname(fromNetlink.resolve('koffi'))
  const nativeName = `@koromix/koffi-linux-${process.arch}`
  const native = dirname(createRequire(join(koffi, 'package.json')).resolve(nativeName))
  const modules = join('kube-ovn', 'node_modules')
  const scripts = readdirSync(koffi, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /^(src\/.*|[^/]*)\.c?js$/.test(file) && file !== 'cnoke.cjs',
  )
  return [
    ...['package.json', 'LICENSE.txt', ...scripts].map((file) => ({
      from: join(koffi, file),
      to: join(modules, 'koffi', file),
    })),
    ...readdirSync(native)
      // Beside that for the C library of Debian there is one for musl's.
      .filter((file) => !file.startsWith('musl'))
      .map((file) => ({ from: join(native, file), to: join(modules, nativeName, file) })),
  ]
}
