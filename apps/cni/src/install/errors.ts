import { KubeOvnError, type Refused } from '@kube-ovn/errors'

/** Says that a plugin that has to be copied to the node is not in the image. */
export class PluginMissingError extends KubeOvnError<{
  readonly plugin: string
  readonly directories: readonly string[]
}> {
  readonly code = 'cni-plugin-missing'
  readonly retry = 'never'

  constructor(details: PluginMissingError['details']) {
    super('CNI plugin to be installed was not found', details)
  }
}

/** Refuses a version of the CNI specification that the plugins on the node do not speak. */
export class CniVersionUnknownError extends KubeOvnError<Refused> {
  readonly code = 'cni-version-unknown'
  readonly retry = 'on-change'

  constructor(details: CniVersionUnknownError['details']) {
    super('CNI version is not known', details)
  }
}
