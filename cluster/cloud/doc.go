// Package cloud describes the accounts that deployments have at clouds: the settings by which a
// deployment names its region, project or tenant and its credential, and the tokens that are made of
// them.
//
// Table lists every setting once. The configuration file, the management API and the stored
// records have the settings of that table, and no others.
package cloud
