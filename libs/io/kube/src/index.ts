export type * from './types.ts'
export { loadAccess } from './access.ts'
export {
  impersonating,
  type Authentication,
  type ClusterAccess,
  type Impersonation,
} from './cluster-access.ts'
export {
  KubeClient,
  type KubeClientOptions,
  type ListOptions,
  type ListPage,
  type PatchOptions,
  type ReadOptions,
  type Removal,
  type RemoveOptions,
  type Selection,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './client.ts'
export * from './errors.ts'
export { execInPod, type ExecRequest } from './exec.ts'
export { inClusterAccess } from './in-cluster.ts'
export {
  Informer,
  dropManagedFields,
  type ChangeListener,
  type InformerHealth,
  type InformerOptions,
} from './informer.ts'
export { parseJson, stringifyJson } from './json.ts'
export { loadKubeconfig } from './kubeconfig.ts'
export { listAll, type WholeList } from './pages.ts'
export { compareResourceVersions } from './resource-version.ts'
export { IndexedStore, objectKey, type IndexFunction } from './store.ts'
export { applyMergePatch, isEqualJson, mergePatch, type MergeFragment } from './merge-patch.ts'
export * from '@kube-ovn/kube-api/core'
export { EventRecorder, type EventNote, type EventRecorderOptions, type Regarding } from './event-recorder.ts'
export { LeaderElector, LeadershipLostError, type LeaderElectorOptions } from './leader-elector.ts'
