/**
 * The part of Kubernetes that is read and written, as readonly types.
 *
 * Objects are as the API writes them in JSON. Only fields that a rule looks at are named; everything else
 * passes through untouched, so the specs of pods are opaque (`Json`) wherever no rule needs them.
 * A user of the library passes raw JSON: `null` is taken as absent, hence `?: T | null` on optional fields.
 */

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }
export type JsonObject = { readonly [key: string]: Json | undefined }
export type StringMap = { readonly [key: string]: string }

type Maybe<T> = T | null | undefined

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: Maybe<boolean>
  readonly blockOwnerDeletion?: Maybe<boolean>
}

/** One entry of `metadata.managedFields`: which paths a manager owns (KEP-555, fieldsV1). */
export interface ManagedFieldsEntry {
  readonly manager?: Maybe<string>
  readonly operation?: Maybe<string>
  readonly apiVersion?: Maybe<string>
  readonly time?: Maybe<string>
  readonly fieldsType?: Maybe<string>
  readonly fieldsV1?: Maybe<JsonObject>
  readonly subresource?: Maybe<string>
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: Maybe<string>
  readonly uid?: Maybe<string>
  readonly resourceVersion?: Maybe<string>
  readonly generation?: Maybe<number>
  readonly creationTimestamp?: Maybe<string>
  readonly deletionTimestamp?: Maybe<string>
  readonly labels?: Maybe<StringMap>
  readonly annotations?: Maybe<StringMap>
  readonly finalizers?: Maybe<readonly string[]>
  readonly ownerReferences?: Maybe<readonly OwnerReference[]>
  readonly managedFields?: Maybe<readonly ManagedFieldsEntry[]>
}

export interface KubeObject {
  readonly apiVersion?: Maybe<string>
  readonly kind?: Maybe<string>
  readonly metadata: ObjectMeta
}

export interface Node extends KubeObject {
  readonly spec?: Maybe<JsonObject>
  readonly status?: Maybe<JsonObject>
}

export interface PodSpec {
  readonly nodeSelector?: Maybe<StringMap>
  readonly [field: string]: Json | undefined
}

export interface PodTemplate {
  readonly metadata?: Maybe<{
    readonly labels?: Maybe<StringMap>
    readonly [field: string]: Json | undefined
  }>
  readonly spec?: Maybe<PodSpec>
}

export interface LabelSelector {
  readonly matchLabels?: Maybe<StringMap>
  readonly matchExpressions?: Maybe<
    readonly { readonly key: string; readonly operator: string; readonly values?: Maybe<readonly string[]> }[]
  >
}

/** What DeploymentSpec and StatefulSetSpec (apps/v1) share, as far as a rule looks at it. */
export interface WorkloadSpec {
  readonly replicas?: Maybe<number>
  readonly selector?: Maybe<LabelSelector>
  readonly template?: Maybe<PodTemplate>
  readonly serviceName?: Maybe<string>
  readonly [field: string]: unknown
}

/** A condition as Kubernetes writes it: of a Deployment, or of a grid (`metav1.Condition`). */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: Maybe<string>
  readonly message?: Maybe<string>
  readonly observedGeneration?: Maybe<number>
  readonly lastTransitionTime?: Maybe<string>
  readonly [field: string]: unknown
}

/** DeploymentStatus and StatefulSetStatus, as far as a rule looks at them; the rest passes through. */
export interface WorkloadStatus {
  readonly observedGeneration?: Maybe<number>
  readonly replicas?: Maybe<number>
  readonly readyReplicas?: Maybe<number>
  readonly updatedReplicas?: Maybe<number>
  readonly availableReplicas?: Maybe<number>
  readonly currentRevision?: Maybe<string>
  readonly updateRevision?: Maybe<string>
  readonly conditions?: Maybe<readonly Condition[]>
  readonly [field: string]: unknown
}

export interface Deployment extends KubeObject {
  readonly spec: WorkloadSpec
  readonly status?: Maybe<WorkloadStatus>
}

export interface StatefulSet extends KubeObject {
  readonly spec: WorkloadSpec
  readonly status?: Maybe<WorkloadStatus>
}

export interface ServiceSpec {
  readonly clusterIP?: Maybe<string>
  readonly type?: Maybe<string>
  readonly ports?: Maybe<readonly JsonObject[]>
  readonly [field: string]: unknown
}

export interface Service extends KubeObject {
  readonly spec?: Maybe<ServiceSpec>
  readonly status?: Maybe<JsonObject>
}
